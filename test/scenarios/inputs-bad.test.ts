import { test } from 'vitest';
import { errorOf, setStage, warningsOf } from './stage.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

test.concurrent('all that is wrong is told in one error, each by name, and nothing is sent', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);

  const result = await run({
    timeout: '10 minutes',
    'request-timeout': '0',
    summary: 'yes',
    'project-id': 'a/b',
    'operation-id': 'all',
    filter: 'stauts=running',
    'fail-on': 'match',
    'poll-interval': '1.5s',
    'fail-fast': 'nope',
  });

  expect(result.conclusion).toBe('failure');
  const lines = errorOf(result).split('\n');
  expect(lines[0]).toBe('8 bad inputs:');
  const expected: [name: string, value: string, wanted: RegExp][] = [
    ['timeout', '10 minutes', /such as 90s, 10m or 1h30m/],
    ['request-timeout', '0', /above 0/],
    ['summary', 'yes', /true or false/],
    ['project-id', 'a/b', /without “\/”/],
    ['filter', 'stauts', /fields are id, project_id, branch_id, endpoint_id, action, created_at/],
    ['fail-on', 'match', /expected empty/],
    ['poll-interval', '1.5s', /whole numbers with units/],
    ['fail-fast', 'nope', /true or false/],
  ];
  for (const [name, value, wanted] of expected) {
    const from = lines.findIndex((line) => line.startsWith(`- ${name}: `));
    const told = lines.slice(from, from + (name === 'filter' ? 3 : 1)).join('\n');
    expect(told, name).toContain(value);
    expect(told, name).toMatch(wanted);
  }
  expect(errorOf(result)).toMatch(/No request was sent/);
  expect(service.requests).toEqual([]);
  expect(result.outputs).toEqual({ status: 'error', 'duration-ms': expect.stringMatching(/^\d+$/) });
  expect(result.summary).toMatch(/^### ❌/);
  expect(result.summary).toContain('10 minutes');
});

test.concurrent('a mode that is mistyped gets the right word, and its other inputs are looked at too', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ mode: 'wait-operations', timeout: 'soon', 'operation-id': id });
  expect(errorOf(result)).toMatch(/mode: “wait-operations” .*wait-operation\b/);
  expect(errorOf(result)).toMatch(/timeout: “soon”/);
  expect(service.requests).toEqual([]);
});

test.concurrent('no mode is an error: required inputs are not enforced by the runner', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ mode: undefined, 'operation-id': id });
  expect(errorOf(result)).toMatch(/mode: is empty; expected wait-operation/);
  expect(service.requests).toEqual([]);
});

test.concurrent('no key gets its own message, and no mask of nothing', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'api-key': '', 'operation-id': id });
  expect(errorOf(result)).toMatch(/api-key: is empty.*fork.*Dependabot/);
  expect(errorOf(result)).toMatch(/CTL_API_KEY/);
  expect(result.masks).toEqual([]);
  expect(warningsOf(result)).toEqual([]);
  expect(service.requests).toEqual([]);
});

test.concurrent.for(['input', 'environment'])(
  'a key of 7 characters from the %s is refused, and not masked, which would hide ordinary text',
  async (from, context) => {
    const { expect } = context;
    const { service, run } = await setStage(context);
    const given = from === 'input' ? { 'api-key': ' timeout ' } : { 'api-key': '' };
    const options = from === 'input' ? {} : { env: { CTL_API_KEY: ' timeout ' } };
    const result = await run({ ...given, 'operation-id': id, timeout: 'soon' }, options);
    expect(errorOf(result)).toMatch(
      /^- api-key: has fewer than 8 characters, and masking it would hide ordinary text/m,
    );
    expect(errorOf(result)).toMatch(/^- timeout: “soon”/m);
    expect(result.masks).toEqual([]);
    expect(service.requests).toEqual([]);
  },
);

test.concurrent('a key of 8 characters is masked and used', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context, { apiKey: 'eight-ch' });
  const result = await run({ 'operation-id': '[]' });
  expect(result.conclusion).toBe('success');
  expect(result.masks).toEqual([service.apiKey]);
});

test.concurrent('key and base-url may come from the environment, and an input wins', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const inputs = { 'operation-id': operation.id };

  const fromEnvironment = await run(
    { ...inputs, 'api-key': undefined, 'base-url': undefined },
    { env: { CTL_API_KEY: service.apiKey, CTL_BASE_URL: service.baseUrl } },
  );
  expect(fromEnvironment.conclusion).toBe('success');
  expect(fromEnvironment.masks).toEqual([service.apiKey]);
  expect(fromEnvironment.stdout).toMatch(/^::add-mask::/);

  const fromInput = await run(inputs, {
    env: { CTL_API_KEY: 'another-key', CTL_BASE_URL: 'http://127.0.0.1:1/v2' },
  });
  expect(fromInput.conclusion).toBe('success');
  expect(fromInput.masks).toEqual([service.apiKey]);
});

test.concurrent('an input that is given empty gets its default', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({
    'operation-id': operation.id,
    timeout: '',
    'request-timeout': '',
    summary: '',
    'poll-interval': '',
    'fail-fast': '',
  });
  expect(result.conclusion).toBe('success');
  expect(result.log).toMatch(/\(timeout 10m\)/);
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('an empty project-id is not guessed', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'project-id': '', 'operation-id': 'all' });
  expect(errorOf(result)).toMatch(/project-id: is empty.*Check the expression/);
  expect(service.requests).toEqual([]);
});

test.concurrent('the password of a URL is shown nowhere', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  for (const url of ['https://user:hunter2@host.example/v2', 'https:user:hunter2@host.example/v2']) {
    const result = await run({ 'base-url': url, 'operation-id': id });
    expect(errorOf(result)).toMatch(/base-url: .*user name or a password/);
    expect(result.output + result.summary, url).not.toContain('hunter2');
  }
  expect(service.requests).toEqual([]);
});

test.concurrent('trailing slashes of base-url are fine', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id, 'base-url': `${service.baseUrl}//` });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('a base-url that does not end in /v2 gets a warning, and its error says where to look', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({
    'operation-id': id,
    'base-url': service.baseUrl.replace(/\/v2$/, '/v3'),
    timeout: '0',
  });
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/base-url.*\/v2/)]);
  expect(errorOf(result)).toMatch(/base-url/);
});

test.concurrent('summary: false holds for bad inputs too', async (context) => {
  const { expect } = context;
  const { run } = await setStage(context);
  const result = await run({ 'operation-id': '', summary: 'False' });
  expect(result.conclusion).toBe('failure');
  expect(result.summary).toBe('');
});
