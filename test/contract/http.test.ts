import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import type { HttpRequest } from '../../src/http/exchange.js';
import { hang, html, page, retryAfter, status, truncated } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { anyId, errorOf, type Stage, type StageOptions, setStage } from '../kit/stage.js';
import { between, gaps, minute, second } from '../kit/times.js';
import { ended } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

const project = ({ projectId }: Stage) => ({ 'project-id': projectId });

const calls = [
  call('wait-operation with one id', (stage) => ({ ...project(stage), 'operation-id': stage.operation(ended).id })),
  call('list-operations', project),
  call('revoke-key with key-name', ({ service }) => ({ 'key-name': service.plane.addKey('my key').name })),
  call('create-key', () => ({}), 'POST'),
];
type Call = ReturnType<typeof call>;

function call(name: string, inputs: (stage: Stage) => Inputs = () => ({}), method: HttpRequest['method'] = 'GET') {
  return { name, mode: name.split(' ')[0] ?? '', method, inputs };
}

async function send(context: TestContext, { mode, inputs }: Call, options: StageOptions, more: Inputs = {}) {
  const stage = await setStage(context, options);
  return { ...stage, result: await stage.runMode(mode, { ...inputs(stage), ...more }) };
}

/** One error, of whole sentences, and a summary that shows that the step failed. */
function expectError(result: StepResult, ...parts: readonly RegExp[]): void {
  expect(result).toMatchObject({ outputs: { status: 'error' }, conclusion: 'failure' });
  const error = errorOf(result);
  for (const part of parts) expect(error).toMatch(part);
  expect(error).not.toMatch(/\.\.|\?\.|undefined|\[object/);
  expect(result.summary).toMatch(/^### ❌/);
}

const baseUrlAdvice =
  /Check that base-url is the URL of the control API \(it usually ends in \/v2\)\. A proxy or a login page may have sent/;
const unusableAdvice = /The response cannot be used\. Re-run the job later\. .*check base-url/;
const networkAdvice = /Check base-url, and the network and proxy of the runner/;

const redirect = (location: string): Fault => ({ kind: 'redirect', location });
const elsewhere = 'https://elsewhere.test/v2?token=1';

/** How often a GET is sent. A silence takes 30 s, then a minute, and no attempt begins later. */
type Attempts = 1 | 2 | 5 | 'for 10 s';

/** What comes back, how often a GET is sent, what the error says, and what it advises. */
type Problem = readonly [name: string, fault: Fault, attempts: Attempts, says: RegExp, advises: RegExp];
const problems: readonly Problem[] = [
  serviceSays(503, 5, /check its status page/),
  serviceSays(400, 1, /check the inputs of this step/),
  serviceSays(401, 'for 10 s', /mistyped, revoked, or for another service\. Set api-key/),
  serviceSays(403, 1, /account that owns/),
  serviceSays(407, 1, /https_proxy.*no_proxy/),
  ['a 206', status(206), 5, /status 206 \(partial content\)/, unusableAdvice],
  ['an HTML page with status 200', html, 5, /status 200 with an HTML page .*proxy or a login page/, baseUrlAdvice],
  ['an HTML page with status 401', page(401), 5, /status 401 with an HTML page/, baseUrlAdvice],
  ['an HTML page with status 407', page(407), 1, /status 407 with an HTML page/, /https_proxy.*no_proxy/],
  ['a redirect', redirect(elsewhere), 1, /the redirect was not followed/, baseUrlAdvice],
  ['no response', hang, 2, /No complete response within (20s|30s|1m)\b/, networkAdvice],
  ['a truncated response', truncated, 5, /The connection closed after \d+ bytes/, networkAdvice],
  ['a body that is not JSON', { kind: 'bad-json' }, 5, /status 200 with a body that is not JSON/, unusableAdvice],
];
/** These prove that no key was made. A create with any other failure is ambiguous: three of them are sent in all. */
const refusals = ['a 400', 'a 403', 'a 407', 'an HTML page with status 407'];
/** A wait believes these after 10 s. Any other failure ends it if a minute passes without a usable response. */
const rejections = ['a 400', 'a 401', 'a 403', 'a 407', 'an HTML page with status 407'];

function serviceSays(code: number, attempts: Attempts, advises: RegExp): Problem {
  const says = new RegExp(`status ${code}: The service says ${code}\\. \\(code FAULT\\) \\[request id req-\\d+\\]`);
  return [`a ${code}`, status(code), attempts, says, advises];
}

describe.for(calls.map((one) => [one.name, one] as const))('%s', ([, one]) => {
  const { method, mode } = one;

  test.for(problems)(
    'fails with advice if each request gets %s',
    async ([name, fault, attempts, says, advises], context) => {
      const { result, service, elsewhere } = await send(context, one, { faults: [{ fault }] });
      expectError(result, advises, new RegExp(`${method} /v2/`));
      // Of a failed create only a 4xx is quoted.
      if (method === 'GET' || name.startsWith('a 4')) expect(errorOf(result)).toMatch(says);
      expect(result.log + result.summary).not.toContain('token=1');
      expect(elsewhere).toEqual([]);
      const sent = service.requests.filter((request) => request.method === method);
      if (mode === 'wait-operation') {
        expect(sent.length).toBeGreaterThanOrEqual(3);
        expect(result.ms).toEqual(
          rejections.includes(name) ? between(10 * second, 15 * second) : between(minute, 81 * second),
        );
      } else if (attempts === 'for 10 s') {
        expect(sent.length).toBeGreaterThan(2);
        expect(result.ms).toEqual(between(10 * second, 19 * second));
      } else if (method === 'POST') expect(sent).toHaveLength(refusals.includes(name) ? 1 : fault === hang ? 2 : 3);
      else expect(sent).toHaveLength(attempts);
    },
  );

  // A wait ends if its project has answered nothing but a 425 for a minute.
  const throttles = mode === 'wait-operation' ? [423, 429] : [423, 425, 429];
  test.for(throttles)('repeats a request that gets a %i until the deadline', async (code, context) => {
    const { result, times } = await send(context, one, { faults: [{ fault: status(code) }] }, { timeout: '5m' });
    const outputs = { status: mode === 'wait-operation' ? 'timeout' : 'error' };
    expect(result).toMatchObject({ outputs, ms: between(5 * minute, 5 * minute + 2 * second) });
    expect(errorOf(result)).toContain(`status ${code}`);
    expect(times().length).toBeGreaterThan(30);
  });

  const withRetryAfter = mode === 'wait-operation' ? [] : [423, 429, 503];
  test.for(withRetryAfter)('fails at once if a %i has a Retry-After beyond the deadline', async (code, context) => {
    const faults = [{ fault: retryAfter(code, 61) }];
    const { result, times } = await send(context, one, { faults }, { timeout: '1m' });
    expect(result).toMatchObject({ outputs: { status: 'error' }, ms: 0 });
    expect(errorOf(result)).toMatch(/asks to wait 1m 1s, but only 1m remain/);
    expect(times()).toEqual([0]);
  });

  test.for<[during: string, fault: Fault]>([
    ['a request', hang],
    ['the pause after a 429', retryAfter(429, 61)],
  ])('ends at once if it is cancelled during %s', async ([, fault], context) => {
    const stage = await setStage(context, { faults: [{ fault }] });
    const step = stage.startMode(mode, one.inputs(stage));
    stage.after(1_234, () => void step.cancel());
    const { outputs, annotations, exitCode, summary } = await step.done;
    expect(outputs).toMatchObject({ status: 'cancelled' });
    expect(annotations.filter(({ source }) => source === 'action')).toEqual([]);
    expect([exitCode, summary]).toEqual([1, expect.stringMatching(/cancelled/i)]);
  });

  if (method === 'POST') return;

  test('still makes five attempts with a 503 after five 429s and a 423', async (context) => {
    const faults = [{ count: 5, fault: status(429) }, { nth: 7, fault: status(423) }, { fault: status(503) }];
    const { result, times } = await send(context, one, { faults }, { timeout: '20h' });
    expectError(result, /status 503/);
    if (mode === 'wait-operation') expect(times().length).toBeGreaterThanOrEqual(5 + 1 + 5);
    else expect(times()).toHaveLength(5 + 1 + 5);
  });

  test.for<[during: string, timeout: string, fault: Fault, error: RegExp]>([
    ['in a pause before a retry', '1m', retryAfter(503, 60), /status 503/],
    ['in the middle of a response', '30s', { kind: 'hang-mid-body' }, /timed out after 30s/i],
  ])('fails at most 2 s after its deadline, even %s', async ([, timeout, fault, error], context) => {
    const { result } = await send(context, one, { faults: [{ fault }] }, { timeout });
    const ms = timeout === '1m' ? minute : 30 * second;
    expect(result).toMatchObject({ conclusion: 'failure', ms: between(ms, ms + 2 * second) });
    expect(errorOf(result)).toMatch(error);
  });
});

test('list-keys pauses for random times between its attempts, and some pauses are short', async (context) => {
  const pauses: number[] = [];
  for (let seed = 0; seed < 20; seed++) {
    const { times } = await send(context, call('list-keys'), { seed, oneJob: true, faults: [{ fault: status(503) }] });
    pauses.push(gaps(times()).at(-1) ?? Number.NaN);
  }
  expect(Math.min(...pauses)).toBeLessThan(0.2 * Math.max(...pauses));
});

test.for([
  ['five attempts if each 503 has Retry-After: 15', 15, 5],
  ['four attempts if each 503 has Retry-After: 16, because none begins after 60 s', 16, 4],
] as const)('list-keys makes %s', async ([, seconds, attempts], context) => {
  const faults = [{ fault: retryAfter(503, seconds) }];
  const { times } = await send(context, call('list-keys'), { faults }, { timeout: '20h' });
  expect(times()).toEqual(Array.from({ length: attempts }, (_, n) => n * seconds * second));
});

const finished = { id: anyId['operation-id'], status: 'finished' };
const record = (more: object) => JSON.stringify({ operation: { ...finished, ...more } });
test.for([
  ['an empty object', '{}'],
  ['an operation with another id', record({ id: '11111111-5d3c-4b57-9a55-9a3a1f3d7c11' })],
  ['a finished operation of another project', record({ project_id: 'other' })],
  ['an operation of a project whose id was rounded', record({ project_id: 2 ** 53 })],
] as const)('wait-operation fails if a 200 holds %s', async ([, body], context) => {
  const stage = await setStage(context, { respond: () => body });
  const single = await stage.run({ 'project-id': String(2 ** 53), ...anyId });
  const list = await stage.run({ 'project-id': 'p', 'operation-id': 'all' });
  expectError(single, /`operation(\.\w+)?` should be .*The response cannot be used/);
  expectError(list, /`operations` (should be an array|is missing: the body is (an array|not an object))/);
});

const sized = [
  ...calls.map((one) => [one.name, 8, one] as const),
  ['list-projects', 64, call('list-projects')] as const,
];
test.for(sized)('%s reads at most %i MiB of a response', async ([, most, one], context) => {
  const sizes = new Set<unknown>();
  const respond = (path: string, _: number, { maxBytes }: HttpRequest) => {
    sizes.add(maxBytes);
    return path === 'projects' ? '{"projects":[{"id":"p"}],"pagination":{"cursor":"c"}}' : { status: 500 };
  };
  const stage = await setStage(context, { respond });
  await stage.runMode(one.mode, one.inputs(stage));
  expect([...sizes]).toEqual([most * 2 ** 20]);
});
