import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { delay, hang, lost, page, retryAfter, status } from '../kit/fault.js';
import { type Inputs, rejectInputs, uuid } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, type StageOptions, setStage, staged } from '../kit/stage.js';
import { between, second } from '../kit/times.js';
import { ended, failsIn, forever, runs } from '../kit/wait.js';
import { Job } from '../runner/job.js';
import type { StepResult } from '../runner/step.js';

const branches = ({ projectId }: Stage) => `POST /projects/${projectId}/branches`;
/** JSON.parse would round the number, and JSON.stringify drop the spaces. */
const body = '{ "branch": { "name": "preview-1", "tag": 9007199254740993 } }';
const onBranch = (fault: Fault, which: Partial<FaultRule> = { nth: 1 }): FaultRule => ({
  endpoint: 'create-branch',
  fault,
  ...which,
});
const always = {};
const post = 'POST /projects/p-1/branches';

async function send(context: TestContext, options: StageOptions = {}, inputs: Inputs = {}) {
  const stage = await setStage(context, { newOperations: ended, ...options });
  const step = stage.startMode('send-request', { request: branches(stage), body, ...inputs });
  return { stage, step, result: await step.done };
}

const changes = ({ service }: Stage) => service.requests.filter(({ method }) => method !== 'GET');
const responseOf = ({ outputs, readFile }: StepResult) => readFile(outputs['response-file'] ?? '');

test('send-request sends one request, and succeeds when all operations that it started have ended well', async (context) => {
  const { stage, result } = await send(context, { newOperations: runs(20) });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'finished', count: '2' } });
  expect(result.ms).toEqual(between(20 * second, 24 * second));
  const headers = { authorization: `Bearer ${stage.service.apiKey}`, 'content-type': 'application/json' };
  expect(changes(stage)).toMatchObject([{ path: `/v2/projects/${stage.projectId}/branches`, headers, body }]);
  const { operations } = JSON.parse(responseOf(result));
  const ids = operations.map(({ id }: { id: string }) => id);
  expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual(ids);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject(Array(2).fill({ status: 'finished' }));
  expect(result.summary).toMatch(
    /^### ✅ send-request: 2 operations finished\n\n<p><code>POST \/projects\/.*\/branches<\/code><\/p>/,
  );
});

test.for<[end: string, what: string, options: StageOptions, inputs: Inputs]>([
  ['failed', 'an operation fails', { newOperations: failsIn(5) }, {}],
  ['timeout', 'an operation runs beyond the deadline', { newOperations: forever }, { timeout: '1m' }],
])('send-request ends as %s if %s, and writes response-file', async ([end, , options, inputs], context) => {
  const { result } = await send(context, options, inputs);
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: end, count: '2' } });
  expect(JSON.parse(responseOf(result))).toHaveProperty('branch');
});

test.for(['POST', 'PUT', 'PATCH', 'DELETE'])(
  'send-request sends a %s with its query, both with and without a body',
  async (method, context) => {
    for (const body of ['', '[]']) {
      const sent: unknown[] = [];
      const respond: StageOptions['respond'] = (path, _, request) => {
        sent.push([request.method, path, request.body]);
        return '{"ok":true}';
      };
      const { result } = await send(context, { respond }, { request: `${method} /projects/p-1?force=true`, body });
      expect(result.conclusion).toBe('success');
      expect(sent).toEqual([[method, 'projects/p-1?force=true', body || undefined]]);
    }
  },
);

test.for<[what: string, response: { status: number; body: string }]>([
  ['a 204', { status: 204, body: '' }],
  ['an object without operations', { status: 201, body: '{"branch":{"id":"br-1"}}' }],
  ['an empty list of operations', { status: 200, body: '{"operations":[]}' }],
])('send-request succeeds after %s, but fails with fail-on: empty', async ([, response], context) => {
  const respond = () => response;
  const { result } = await send(context, { respond }, { request: 'DELETE /projects/p-1' });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'finished', count: '0' } });
  expect(responseOf(result).trim()).toBe(response.body);
  expect(noticesOf(result).join()).toMatch(/no operation/);
  const strict = await send(context, { respond }, { request: 'DELETE /projects/p-1', 'fail-on': 'empty' });
  expect(strict.result).toMatchObject({ conclusion: 'failure', outputs: { status: 'empty' } });
  expect(errorOf(strict.result)).toMatch(/no operation/);
});

test('send-request waits for an operation in the project of its record, else in that of the path', async (context) => {
  const records = [
    { id: uuid(1), status: 'running', project_id: 'p-2' },
    { id: uuid(2), status: 'running' },
  ];
  const respond: StageOptions['respond'] = (path, n) => {
    if (n === 1) return JSON.stringify({ operations: records, operation: { id: uuid(3), status: 'running' } });
    return JSON.stringify({ operation: { id: path.split('/').at(-1), status: 'finished' } });
  };
  const { stage, result } = await send(context, { respond }, { request: 'PATCH /projects/p-1' });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '3' });
  const asked = [`p-2/operations/${uuid(1)}`, `p-1/operations/${uuid(2)}`, `p-1/operations/${uuid(3)}`];
  expect(stage.paths().slice(1).sort()).toEqual(asked.map((path) => `projects/${path}`).sort());
});

test.for<[what: string, response: string]>([
  ['a login page', '<!doctype html><title>Sign in</title>'],
  ['an array', '[]'],
  ['an operation without a status', `{"operations":[{"id":"${uuid(1)}"}]}`],
  ['an operation without a project', `{"operations":[{"id":"${uuid(1)}","status":"running"}]}`],
])('send-request fails after a 200 with %s, and does not repeat its request', async ([, response], context) => {
  const { stage, result } = await send(context, { respond: () => response }, { request: 'POST /projects' });
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
  expect(errorOf(result)).toMatch(/may have been carried out/);
  expect(errorOf(result)).toMatch(/operation-id: all/);
  expect(stage.paths()).toHaveLength(1);
});

test.for<[what: string, fault: Fault]>([
  ['a 500', status(500)],
  ['a 408', status(408)],
  ['an HTML page with status 404', page(404)],
  ['a cut connection', lost],
  ['no response', hang],
])('send-request does not repeat its request after %s, but advises a wait', async ([, fault], context) => {
  const { stage, result } = await send(context, { faults: [onBranch(fault)] });
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
  expect(errorOf(result)).toMatch(/may have been carried out/);
  expect(errorOf(result)).toContain(`operation-id: all, project-id: ${stage.projectId}`);
  expect(stage.service.requests).toHaveLength(1);
});

test.for<[what: string, faults: FaultRule[], requests: number]>([
  ['a 423 for 20 s', [onBranch(retryAfter(423, 5), { count: 4 })], 5],
  ['a 425', [onBranch(status(425))], 2],
  ['a 429 with Retry-After: 7', [onBranch(retryAfter(429, 7), { count: 3 })], 4],
  ['an HTML page with status 429', [onBranch(page(429))], 2],
])('send-request repeats its request after %s, and succeeds', async ([, faults, requests], context) => {
  const { stage, result } = await send(context, { faults });
  expect(result.conclusion).toBe('success');
  expect(changes(stage)).toHaveLength(requests);
});

test.for([
  ['success', 9.9],
  ['failure', 60],
] as const)('send-request ends in %s if each request gets a 401 for %d s', async ([conclusion, seconds], context) => {
  const stage = await setStage(context, { newOperations: ended, faults: [onBranch(status(401), always)] });
  stage.after(seconds * second, () => stage.service.faults.clear());
  const result = await stage.runMode('send-request', { request: branches(stage), body });
  expect(result.conclusion).toBe(conclusion);
  if (conclusion === 'failure') expect(errorOf(result)).not.toMatch(/may have been carried out/);
});

test.for([400, 409])(
  'send-request does not repeat its request after a %d, and shows the message of the service',
  async (code, context) => {
    const fault = status(code, {
      body: '{"message":"The name preview-1 is taken by br-0123456789abcdef.","code":"E1"}',
    });
    const { stage, result } = await send(context, { faults: [onBranch(fault)] });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
    expect(errorOf(result)).toContain('The name preview-1 is taken by br-0123456789abcdef. (code E1)');
    expect(errorOf(result)).not.toMatch(/may have been carried out/);
    expect(changes(stage)).toHaveLength(1);
  },
);

test.for<[what: string, fault: Fault, isDoubtful: boolean]>([
  ['only 423s', status(423), false],
  ['no response', delay(300 * second), true],
])('send-request ends as timeout if it gets %s until the deadline', async ([, fault, isDoubtful], context) => {
  const { result } = await send(context, { faults: [onBranch(fault, always)] }, { timeout: '25s' });
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'timeout' } });
  expect(result.ms).toBeLessThanOrEqual(27 * second);
  expect(/may have been carried out/.test(errorOf(result))).toBe(isDoubtful);
});

test('send-request says in its summary that a request that was cancelled may have been carried out', async (context) => {
  const stage = await setStage(context, { faults: [onBranch(delay(10 * second))] });
  const step = stage.startMode('send-request', { request: branches(stage), body });
  stage.after(5 * second, () => void step.cancel());
  const result = await step.done;
  expect(result).toMatchObject({ conclusion: 'cancelled', outputs: { status: 'cancelled' } });
  expect(result.summary).toMatch(/may have been carried out/);
  expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
});

const secrets = {
  password: 'pass-4711-word',
  uri: 'db://u:pw-of-uri@h/x',
  deep: 'below-a-secret',
  token: 'tok"en\n4711',
  eight: 'eight-ch',
};
const secretRecord = {
  roles: [{ name: 'visible-role', password: secrets.password }],
  Connection_URIs: [{ value: secrets.uri, parts: { host: secrets.deep } }],
  apiToken: secrets.token,
  key: 'seven77',
  'private-KEY': secrets.eight,
};

test('send-request masks the secrets of request and response, and writes them only to response-file', async (context) => {
  const request = { user: { name: 'visible-user', new_password: 'secret-of-request' } };
  const respond = () => JSON.stringify({ ...secretRecord, operations: [] });
  const inputs = { request: 'POST /projects?sslkey=secret-of-query', body: JSON.stringify(request) };
  const { result } = await send(context, { respond }, inputs);
  expect(result.conclusion).toBe('success');
  expect(result.masks).toEqual(
    expect.arrayContaining([...Object.values(secrets), 'secret-of-request', 'secret-of-query']),
  );
  expect(result.masks.join()).not.toMatch(/visible|seven77/);
  expect(JSON.parse(responseOf(result))).toMatchObject(secretRecord);
  const path = result.outputs['response-file'] ?? '';
  expect(path.startsWith(result.job.root)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const others = [result.log, result.summary, JSON.stringify(result.outputs), JSON.stringify(result.state)].join();
  for (const secret of [...Object.values(secrets), 'secret-of-request', 'secret-of-query'])
    expect(others).not.toContain(secret);
});

test('send-request masks a secret in its query both as it is written and as it is decoded', async (context) => {
  const inputs = { request: 'POST /projects?token=aGVsbG8+d29y%2FZA==&name=aGVsbG8visible' };
  const { result } = await send(context, {}, inputs);
  const secrets = ['aGVsbG8+d29y%2FZA==', 'aGVsbG8+d29y/ZA==', 'aGVsbG8 d29y/ZA=='];
  expect(result.masks).toEqual(expect.arrayContaining(secrets));
  expect(result.masks.join()).not.toContain('visible');
});

test('send-request shows no part of its secrets that a 400 repeats', async (context) => {
  const long = `Start${'0123456789abcdefghij'.repeat(20)}End`;
  const lines = '-----BEGIN KEY-----\nabcdefghijkl\tmnop\n-----END KEY-----';
  const inputs = { request: post, body: JSON.stringify({ role: { password: long, private_key: lines } }) };
  const respond = () => ({ status: 400, body: JSON.stringify({ message: `No ${lines} and no ${long}.` }) });
  const { result } = await send(context, { respond }, inputs);
  expect(errorOf(result)).toMatch(/status 400: No /);
  for (const piece of ['Start0', '0123456789ab', 'abcdefghijkl'])
    expect(result.log + result.summary + result.outputs['message']).not.toContain(piece);
});

test.for<[what: string, request: string, problem: RegExp]>([
  ['that is empty', '', /is empty.*Check the expression/],
  ['with GET', 'GET /projects', /expected POST, PUT, PATCH or DELETE/],
  ['with a full URL', 'POST https://elsewhere.test/v2/projects', /expected POST/],
  ['with an empty path segment', 'POST //elsewhere.test/projects', /empty part/],
  ['with undefined in its path', 'DELETE /projects/undefined', /“(null|undefined)”.*Check/],
  ['with an expression in its path', `DELETE /projects/\${{vars.X}}`, /is no value/],
  ['with “..” in its path', 'DELETE /projects/../users', /“\.\.”/],
  ['with an encoded “..” in its path', 'DELETE /projects/%2e%2E/users', /“\.\.”/],
  ['with an encoded path to API keys', 'POST /%61pi%5Fkeys', /API keys/],
  ['to create an API key', 'POST /organizations/o-1/api_keys', /API keys/],
  ['with api_keys after an encoded slash', 'POST /x%2Fapi_keys', /API keys/],
  ['with a fragment', 'POST /projects#fragment', /percent-encoded/],
])('send-request rejects a request %s', async ([, request, problem], context) => {
  const result = await rejectInputs(await setStage(context), 'send-request', { request });
  expect(errorOf(result)).toMatch(/request: /);
  expect(errorOf(result)).toMatch(problem);
});

staged(
  'send-request rejects a body that is not JSON, given twice or unreadable, and does not show it',
  async ({ stage }) => {
    const file = join(stage.folder, 'body.json');
    writeFileSync(file, '{"password": "hidden-4711"');
    const latin = join(stage.folder, 'latin.json');
    writeFileSync(latin, '{"name": "café"}', 'latin1');
    for (const [inputs, problem] of [
      [{ body: '{"password": hidden-4711}' }, /body: is not JSON/],
      [{ body, 'body-file': file }, /body: .*has no effect/],
      [{ 'body-file': file }, /body-file: is not JSON/],
      [{ 'body-file': `${file}.missing` }, /body-file: .*ENOENT/],
      [{ 'body-file': latin }, /body-file: .*cannot be read/],
    ] as const) {
      const result = await rejectInputs(stage, 'send-request', { request: post, ...inputs });
      expect(errorOf(result)).toMatch(problem);
      expect(result.log).not.toContain('hidden-4711');
    }
  },
);

test('send-request finds body-file in the workspace, and sends its text', async (context) => {
  const stage = await setStage(context, { newOperations: ended });
  const job = new Job();
  writeFileSync(join(job.workspace, 'body.json'), body);
  const inputs = { request: branches(stage), 'body-file': 'body.json' };
  const result = await stage.runMode('send-request', inputs, { job });
  expect(result.conclusion).toBe('success');
  expect(changes(stage)).toMatchObject([{ body }]);
});

staged('send-request sends nothing if NODE_DEBUG is set', async ({ stage }) => {
  const result = await rejectInputs(stage, 'send-request', { request: post }, { env: { NODE_DEBUG: 'http' } });
  expect(errorOf(result)).toMatch(/NODE_DEBUG.*print/);
});

test('send-request repeats its request until the deadline if the host is unknown', async (context) => {
  const stage = await setStage(context);
  const inputs = { request: post, 'base-url': 'https://unknown.test/v2', timeout: '3m' };
  const result = await stage.runMode('send-request', inputs);
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'timeout' } });
  expect(result.ms).toEqual(between(180 * second, 182 * second));
  expect(stage.elsewhere.length).toBeGreaterThan(10);
  expect(errorOf(result)).not.toMatch(/may have been carried out/);
});

test.for(['failed', 'finished'])(
  'send-request sends no other request for an operation that its response shows as %s',
  async (status, context) => {
    const record = { id: uuid(1), status, project_id: 'p-1' };
    const respond = () => JSON.stringify({ operations: [record] });
    const { stage, result } = await send(context, { respond }, { request: 'DELETE /projects/p-1' });
    expect(result.outputs).toMatchObject({ status, count: '1', 'operation-ids': JSON.stringify([uuid(1)]) });
    expect(stage.paths()).toHaveLength(1);
  },
);

test('send-request writes even a 2xx response that it cannot use to response-file', async (context) => {
  const response = '{"operations":[{"id":"x"}],"connection_uri":"db://secret-of-response"}';
  const { result } = await send(context, { respond: () => response }, { request: post });
  expect(result.outputs['status']).toBe('error');
  expect(responseOf(result)).toBe(response);
  expect(errorOf(result)).not.toMatch(/re-run/i);
});

test('send-request counts its pauses from the response, not from the start of the step', async (context) => {
  const faults = [onBranch({ kind: 'delay', ms: 12 * second })];
  const { stage } = await send(context, { newOperations: runs(40), faults });
  const polls = stage.service.requests.filter(({ method }) => method === 'GET').map(({ at }) => at);
  expect((polls[2] ?? 0) - (polls[0] ?? 0)).toBeLessThan(second);
});

test('the error of send-request shortens the id of a project that its response names', async (context) => {
  const operation = { id: uuid(1), status: 'running', project_id: 'p'.repeat(300) };
  const started = JSON.stringify({ operations: [operation] });
  const respond: StageOptions['respond'] = (_, __, { method }) => (method === 'POST' ? started : { status: 500 });
  const { result } = await send(context, { respond }, { timeout: '30s' });
  expect(errorOf(result)).toMatch(/for project p{79}…/);
});
