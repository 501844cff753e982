import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test, vi } from 'vitest';
import { type Fault, type GitHubOptions, type RunningGitHub, startGitHub } from '../../control-plane/github/index.js';
import { repositoryFingerprint } from '../../src/keys/key-name.js';
import type { LookupOutcome, RunState } from '../../src/modes/sweep-keys/run-lookups.js';
import { loginRequired, type ProxyBehaviour, startProxy } from '../kit/peers.js';
import { shortPauses } from '../kit/preload.js';
import { reach } from '../kit/reach.js';
import { warningsOf, withoutMasks } from '../kit/stage.js';
import { addOldAndYoung, day, expectSwept, expectWarned, repositoryId, setSweep } from '../kit/sweep.js';
import { ownRun } from '../kit/workflow-runs.js';
import type { StepOptions } from '../runner/step.js';

const token = `ghs_${'Zq7Wm4Lk9Xs2Vb'.repeat(3)}`;
const repository = { token, repository: 'acme/shop', repositoryId };

function runsOf(requests: RunningGitHub['requests']): string[] {
  return requests.map(({ path }) => path.replace(/.*\/runs\//, ''));
}

describe('the client of GitHub', () => {
  /** The start of virtual time. */
  const epochMs = Date.UTC(2024, 0, 1);
  let github: RunningGitHub;
  let workflowRuns: typeof import('../../src/modes/sweep-keys/workflow-runs.js').workflowRuns;
  /** Of the test. */
  let requests: () => RunningGitHub['requests'];

  beforeAll(async () => {
    github = await startGitHub(repository);
    // The client reads the variable once, when it is loaded: these tests share one GitHub.
    vi.stubEnv('GITHUB_API_URL', github.url);
    const { defaults } = await import('@actions/github/lib/utils');
    expect(defaults.baseUrl).toBe(github.url);
    ({ workflowRuns } = await import('../../src/modes/sweep-keys/workflow-runs.js'));
    vi.unstubAllEnvs();
    github.addRun({ id: ownRun });
    github.addRun({ id: '13', status: 'completed' });
  });

  beforeEach(() => {
    const earlier = github.requests.length;
    requests = () => github.requests.slice(earlier);
    github.faults.clear();
  });

  afterAll(() => github.close());

  /** One request about the run. Other tests show what a sweep makes of the result. */
  function find(id: string, own = token): Promise<LookupOutcome> {
    return workflowRuns(own, 'acme/shop', () => epochMs).find(id, () => undefined);
  }

  /** GitHub responds like this to requests about the run 13. */
  function findWith(fault: Fault): Promise<LookupOutcome> {
    github.faults.add({ path: '/runs/13', fault });
    return find('13');
  }

  function respondWith(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Fault {
    return { kind: 'status', status, body, headers };
  }

  /** A sweep in virtual time, with the real client of GitHub over sockets. */
  async function setRuns(context: TestContext) {
    const stage = await setSweep(context, { workflowRuns: workflowRuns(token, 'acme/shop', () => epochMs) });
    return { ...stage, sweep: () => stage.sweep({}, { token, debug: true }) };
  }

  test('requests each run from the repository, with the token alone and the name of the action', async (context) => {
    const stage = await setRuns(context);
    github.addRun({ id: '12', status: 'completed', conclusion: 'failure', attempt: 3 });
    const revoked = [stage.addKey('11'), stage.addKey('12', { attempt: 3 })];
    expectSwept(await stage.sweep(), 'ok', { revoked });
    expect(runsOf(requests())).toEqual([ownRun, '11', '12', '11', ownRun]);
    for (const { method, path, headers } of requests()) {
      expect(`${method} ${path}`).toMatch(/^GET \/repos\/acme\/shop\/actions\/runs\/\d+$/);
      expect(headers['authorization']).toBe(`token ${token}`);
      expect(headers['user-agent']).toMatch(/^ctl-action\/\d+\.\d+\.\d+ octokit/);
      expect(JSON.stringify(headers)).not.toContain(stage.service.apiKey);
    }
  });

  test('sends nothing without a token', async () => {
    const message = 'GitHub was not queried, because github-token is empty';
    expect(await find(ownRun, '')).toEqual({ failure: { message, transient: false } });
    expect(requests()).toEqual([]);
  });

  const going = ['queued', 'in_progress', 'waiting', 'pending', 'requested', 'a_status_of_tomorrow'];
  test.for<[fields: string, run: RunState]>([
    ['"status":"completed","run_attempt":3', { isCompleted: true, attempt: 3 }],
    ...going.map((status): [string, RunState] => [
      `"status":"${status}","run_attempt":1`,
      { isCompleted: false, attempt: 1 },
    ]),
    ['"status":"completed"', { isCompleted: true, attempt: undefined }],
    ['"status":"completed","run_attempt":null', { isCompleted: true, attempt: undefined }],
    ['"status":"queued","run_attempt":"2"', { isCompleted: false, attempt: undefined }],
  ])('a run with %s is read as %o', async ([fields, run]) => {
    expect(await findWith(respondWith(200, `{"id":13,${fields}}`))).toEqual({ run });
  });

  test('a run without the number of its attempt counts by its status', async (context) => {
    const stage = await setSweep(context);
    stage.runs.set('11', { attempt: undefined, isCompleted: true });
    stage.runs.set('12', { attempt: undefined, isCompleted: false });
    const revoked = [stage.addKey('11', { ageMs: 0 })];
    const kept = [stage.addKey('12', { ageMs: 300 * day })];
    expectSwept(await stage.sweep(), 'ok', { revoked, kept });
  });

  test('an id of a run beyond 2^53 keeps its digits', async () => {
    for (const id of ['9007199254740993', '90071992547409931', '18446744073709551615']) {
      github.addRun({ id, status: 'completed' });
      expect(await find(id)).toEqual({ run: { attempt: 1, isCompleted: true } });
      expect(requests().at(-1)?.path).toBe(`/repos/acme/shop/actions/runs/${id}`);
    }
  });

  test('a run not found is gone, also with the last request of the hour', async () => {
    expect(await find('404')).toEqual({ run: 'gone' });
    const last = respondWith(404, '{"message":"Not Found"}', { 'x-ratelimit-remaining': '0' });
    expect(await findWith(last)).toEqual({ run: 'gone' });
  });

  const other = /something other than the requested run/;
  const unusable: Readonly<Record<string, readonly [Fault, why: RegExp, transient: boolean]>> = {
    '403': [{ kind: 'no-permission' }, /status 403: Resource not accessible by integration$/, false],
    '422': [{ kind: 'status', status: 422 }, /status 422: Unprocessable Entity$/, false],
    '503': [{ kind: 'status', status: 503 }, /status 503: Service Unavailable$/, true],
    '204': [respondWith(204, ''), /status 204$/, false],
    'a redirect': [{ kind: 'redirect' }, /status 301$/, false],
    'a redirect to itself': [{ kind: 'redirect', location: '?again' }, /status 301$/, false],
    'a rate limit of an hour': [{ kind: 'rate-limit' }, /rate limit.*\(rate limit\)$/, true],
    'a secondary rate limit': [{ kind: 'secondary-rate-limit', status: 429 }, /secondary rate limit/, true],
    'an HTML page': [{ kind: 'html' }, other, true],
    'an HTML page with 403': [{ kind: 'html', status: 403 }, /status 403 and a body that is not JSON/, true],
    'an HTML page with 404': [{ kind: 'html', status: 404 }, /status 404 and a body that is not JSON/, true],
    '404 with other JSON': [respondWith(404, '{"error":"no such path"}'), /status 404/, true],
    '404 without a body': [respondWith(404, ''), /status 404/, true],
    'bad JSON': [{ kind: 'bad-json' }, other, true],
    'an empty body': [{ kind: 'empty-body' }, other, true],
    null: [respondWith(200, 'null'), other, true],
    'another run': [respondWith(200, '{"id":12,"status":"completed"}'), other, true],
    'a run whose id is a text': [respondWith(200, '{"id":"13","status":"completed"}'), other, true],
    'a run without a status': [respondWith(200, '{"id":13,"run_attempt":9}'), other, true],
    'a closed connection': [{ kind: 'cut-before-headers' }, /GitHub could not be reached \(.+\)/, true],
    'a truncated body': [{ kind: 'cut-mid-body' }, /GitHub/, true],
  };
  test.for(Object.entries(unusable))(
    'a run stays unknown if the response is %s',
    async ([, [fault, why, transient]]) => {
      const failure = { message: expect.stringMatching(why), transient };
      expect(await findWith(fault)).toMatchObject({ failure });
      expect(requests()).toHaveLength(1);
    },
  );

  test('a response about a run whose id differs only beyond 2^53 leaves the run unknown', async () => {
    const body = '{"id":90071992547409932,"status":"completed","run_attempt":1}';
    github.faults.add({ path: '/runs/90071992547409931', fault: respondWith(200, body) });
    expect(await find('90071992547409931')).toMatchObject({ failure: { message: expect.stringMatching(other) } });
  });

  const reset = (offset: number) => ({ 'x-ratelimit-reset': String(epochMs / 1_000 + offset) });
  const none = { 'x-ratelimit-remaining': '0' };
  test.for<[what: string, retryAfterMs: number, headers: Readonly<Record<string, string>>, message: string]>([
    ['a time', 90_000, { ...none, ...reset(90) }, 'Slow down'],
    ['a time in the past', 0, { ...none, ...reset(-5) }, 'Slow down'],
    ['Retry-After', 7_000, { 'retry-after': '7' }, 'You have exceeded a secondary rate limit.'],
    ['no time at all', 60_000, { 'x-ratelimit-reset': 'soon' }, 'You have exceeded a secondary rate limit.'],
    ['its name in capitals alone', 60_000, { 'x-ratelimit-reset': 'soon' }, 'RATE LIMIT exceeded'],
  ])('a rate limit with %s means a wait of %i ms', async ([, retryAfterMs, headers, message]) => {
    for (const status of [403, 429]) {
      github.faults.clear();
      const found = await findWith(respondWith(status, JSON.stringify({ message }), headers));
      expect(found).toMatchObject({ failure: { status: 429, transient: true, retryAfterMs } });
    }
  });

  test('a redirect of GitHub to another server is not followed, and that server gets no token', async (context) => {
    const elsewhere = await startGitHub(repository);
    context.onTestFinished(() => elsewhere.close());
    elsewhere.addRun({ id: '13', status: 'completed' });
    const location = `${elsewhere.url}/repos/acme/shop/actions/runs/13`;
    const failure = { message: 'GitHub responded with status 301' };
    expect(await findWith({ kind: 'redirect', location })).toMatchObject({ failure });
    expect(elsewhere.requests).toEqual([]);
  });

  test('a message of GitHub is shown as short text on one line, and is no command', async (context) => {
    const stage = await setRuns(context);
    const text = '::error::HACKED\n::set-output name=status::HACKED\n##[error]x</code><img src=x>\u001b[2J';
    const body = JSON.stringify({ message: text + 'x'.repeat(5_000) });
    github.faults.add({ path: '/runs/11', fault: respondWith(403, body) });
    const kept = [stage.addKey('11')];
    const result = await stage.sweep();
    expectWarned(result, [], kept, /status 403: ::error::HACKED .*x…/);
    expect(warningsOf(result)[0]?.length).toBeLessThan(700);
    expect(result.annotations.map(({ kind }) => kind)).toEqual(['warning']);
    expect(result.output + result.summary).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(result.summary).not.toContain('<img');
  });

  const says = (message: string) => JSON.stringify({ message });
  const echoes: Readonly<Record<string, Fault>> = {
    'as a message': respondWith(403, says(`no: ${token}`)),
    'where a message is cut': respondWith(403, says(`${'x'.repeat(280)} ${token}`)),
    'as a page': respondWith(403, `<html><title>${token}</title></html>`),
    'as the target of a redirect': { kind: 'redirect', location: `http://127.0.0.1:1/${token}` },
    'as the status of the run': respondWith(200, JSON.stringify({ id: 13, status: token, run_attempt: token })),
  };
  test.for(Object.entries(echoes))('a token that GitHub echoes %s is nowhere in the result', async ([, fault]) => {
    const result = JSON.stringify(await findWith(fault));
    const parts = Array.from({ length: token.length - 12 }, (_, at) => token.slice(at, at + 12));
    expect(parts.filter((part) => result.includes(part))).toEqual([]);
  });
});

describe('a sweep as a process', () => {
  /** A GitHub of its own that shows the current run. */
  async function setProcess(context: TestContext, options: Partial<GitHubOptions> = {}) {
    const stage = await setSweep(context, { overSockets: true });
    const github = await startGitHub({ ...repository, ...options });
    context.onTestFinished(() => github.close());
    github.addRun({ id: ownRun });
    const start = (inputs?: StepOptions['inputs'], env?: StepOptions['env']) =>
      stage.startSweep(inputs, {
        token,
        limitMs: 35_000,
        nodeArgs: shortPauses,
        env: { GITHUB_API_URL: github.url, ...env },
      });
    return { ...stage, github, start, run: (...args: Parameters<typeof start>) => start(...args).done };
  }

  test.concurrent('uses the API path of GitHub Enterprise, and exits although GitHub keeps its connection open', async (context) => {
    const stage = await setProcess(context, { basePath: '/api/v3' });
    stage.github.addRun({ id: '12' });
    const fingerprint = repositoryFingerprint('https://ghe.example', repositoryId);
    const revoked = [stage.addKey('11', { fingerprint })];
    const kept = [stage.addKey('12', { fingerprint })];
    const result = await stage.run({}, { GITHUB_SERVER_URL: 'https://ghe.example' });
    expectSwept(result, 'ok', { revoked, kept });
    expect(warningsOf(result)).toEqual([]);
    expect(result.overran).toBe(false);
    expect(runsOf(stage.github.requests)).toEqual([ownRun, '11', '12', '11', ownRun]);
    expect(stage.github.requests[0]?.path).toBe(`/api/v3/repos/acme/shop/actions/runs/${ownRun}`);
  });

  test.concurrent('ends at SIGINT while GitHub does not respond', async (context) => {
    const stage = await setProcess(context);
    stage.github.faults.add({ fault: { kind: 'hang-before-headers' } });
    stage.addKey('11', { ageMs: 300 * day });
    const step = stage.start();
    await reach(step, stage.github.arrived());
    step.kill('SIGINT');
    const result = await step.done;
    expect(result.outputs['status']).toBe('cancelled');
    expect(result.exitCode).toBe(1);
    expect(result.annotations).toEqual([]);
    expect(result.summary).toMatch(/^### 🚫/);
    expect(stage.deletes()).toEqual([]);
  });

  /** The control plane is on the loopback interface, so no proxy is used for it. Only the proxy knows GitHub. */
  const behind = (port: number, login = '') => {
    return { GITHUB_API_URL: 'http://github.test', http_proxy: `http://${login}127.0.0.1:${port}` };
  };

  test.concurrent('reaches GitHub through the proxy in http_proxy, with its login', async (context) => {
    const stage = await setProcess(context);
    const behaviour = { kind: 'login', user: 'ci', password: 'hunter2@:/' } as const;
    const proxy = await startProxy(context, Number(new URL(stage.github.url).port), behaviour);
    const revoked = [stage.addKey('11')];
    const result = await stage.run({}, behind(proxy.port, 'ci:hunter2%40%3A%2F@'));
    expectSwept(result, 'ok', { revoked });
    expect(warningsOf(result)).toEqual([]);
    expect(proxy.asked[0]?.url).toBe('github.test:80');
    expect(JSON.stringify(proxy.asked.map(({ headers }) => headers))).not.toContain(token);
    expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
  });

  test.concurrent.for<[what: string, behaviour: ProxyBehaviour, why: RegExp]>([
    ['rejects', { kind: 'says', text: loginRequired }, /GitHub could not be reached/],
    ['is silent', { kind: 'silent' }, /GitHub did not respond within request-timeout/],
  ])('revokes only old keys behind a proxy that %s', async ([, behaviour, why], context) => {
    const { port } = await startProxy(context, 1, behaviour);
    const stage = await setProcess(context);
    const [old, young] = addOldAndYoung(stage);
    const result = await stage.run({ 'request-timeout': '1s' }, behind(port, 'ci:hunter2@'));
    expectWarned(result, [old], [young], why);
    expect(result.output + result.summary).not.toContain('hunter2');
  });

  test.concurrent('sends nothing to GitHub if http_proxy is not a valid URL, and does not show it', async (context) => {
    const stage = await setProcess(context);
    const [old, young] = addOldAndYoung(stage);
    const env = { GITHUB_API_URL: 'http://github.test', http_proxy: 'http://ci:hunter2%zz@127.0.0.1:1' };
    const result = await stage.run({}, env);
    expectWarned(result, [old], [young], /no request was sent to GitHub, because http_proxy is not a valid URL/);
    expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
  });
});
