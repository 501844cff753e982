import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, test, vi } from 'vitest';
import { repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Fault, type GitHubOptions, type RunningGitHub, startGitHub } from '../github/index.js';
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
  let earlier = 0;
  /** Of the test. */
  const requests = () => github.requests.slice(earlier);
  let workflowRuns: typeof import('../../src/modes/sweep-keys/workflow-runs.js').workflowRuns;

  beforeAll(async () => {
    github = await startGitHub(repository);
    // The client reads the variable once, when it is loaded: these tests share one GitHub.
    vi.stubEnv('GITHUB_API_URL', github.url);
    const { defaults } = await import('@actions/github/lib/utils');
    expect(defaults.baseUrl).toBe(github.url);
    ({ workflowRuns } = await import('../../src/modes/sweep-keys/workflow-runs.js'));
    vi.unstubAllEnvs();
    github.addRun({ id: ownRun });
  });

  afterEach(() => {
    github.faults.clear();
    earlier = github.requests.length;
  });

  afterAll(() => github.close());

  /** A sweep in virtual time, with the real client of GitHub over sockets. */
  async function setRuns(context: TestContext, own = token) {
    const stage = await setSweep(context, { workflowRuns: workflowRuns(own, 'acme/shop', () => epochMs) });
    return { ...stage, sweep: () => stage.sweep({}, { token: own, debug: true }) };
  }

  function respondTo(path: string, status: number, body: string, headers?: Readonly<Record<string, string>>): void {
    const fault: Fault = { kind: 'status', status, body, ...(headers === undefined ? {} : { headers }) };
    github.faults.add({ path, nth: 1, fault });
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

  test('sends nothing without a token', async (context) => {
    const stage = await setRuns(context, '');
    const [old, young] = addOldAndYoung(stage);
    const result = await stage.sweep();
    expectWarned(result, [old], [young], /github-token is empty/);
    expect(requests()).toEqual([]);
    expect(result.masks).toEqual([stage.service.apiKey]);
  });

  const running = ['queued', 'in_progress', 'waiting', 'pending', 'requested', 'a_status_of_tomorrow'];
  test.for(running)('a run with the status %s goes on', async (status, context) => {
    const stage = await setRuns(context);
    github.addRun({ id: '12', status });
    const kept = [stage.addKey('12', { ageMs: 300 * day })];
    expectSwept(await stage.sweep(), 'ok', { kept });
  });

  test('an id of a run beyond 2^53 keeps its digits', async (context) => {
    const stage = await setRuns(context);
    const ids = ['9007199254740993', '90071992547409931', '18446744073709551615'];
    for (const id of ids) github.addRun({ id, status: 'completed' });
    const revoked = ids.map((id) => stage.addKey(id, { ageMs: 0 }));
    expectSwept(await stage.sweep(), 'ok', { revoked });
    expect(runsOf(requests())).toEqual([ownRun, ...ids]);
  });

  test.for(['', '"run_attempt":null,', '"run_attempt":"2",'])(
    'a run without the number of its attempt (%j) counts by its status',
    async (attempt, context) => {
      const stage = await setRuns(context);
      respondTo('/runs/11', 200, `{"id":11,${attempt}"status":"completed"}`);
      respondTo('/runs/12', 200, `{"id":12,${attempt}"status":"in_progress"}`);
      const revoked = [stage.addKey('11', { ageMs: 0 })];
      const kept = [stage.addKey('12', { ageMs: 300 * day })];
      expectSwept(await stage.sweep(), 'ok', { revoked, kept });
    },
  );

  test('a run not found is gone, also with the last request of the hour', async (context) => {
    const stage = await setRuns(context);
    respondTo('/runs/11', 404, '{"message":"Not Found"}', { 'x-ratelimit-remaining': '0' });
    const revoked = [stage.addKey('11')];
    expectSwept(await stage.sweep(), 'ok', { revoked });
  });

  test('one 404 by mistake revokes no key of a run that goes on', async (context) => {
    const stage = await setRuns(context);
    github.addRun({ id: '12' });
    github.faults.add({ path: '/runs/12', nth: 1, fault: respondWith(404) });
    const kept = [stage.addKey('12', { ageMs: 300 * day })];
    expectSwept(await stage.sweep(), 'ok', { kept });
  });

  const other = /something other than the requested run/;
  const respondWith = (status: number, body?: string): Fault => ({ kind: 'status', status, ...(body && { body }) });
  const unusable: Readonly<Record<string, readonly [fault: Fault, why: RegExp, attempts: 1 | 5]>> = {
    '403': [{ kind: 'no-permission' }, /status 403: Resource not accessible by integration\./, 1],
    '422': [respondWith(422), /status 422: Unprocessable Entity\./, 1],
    '503': [respondWith(503), /status 503: Service Unavailable\./, 5],
    '204': [{ kind: 'status', status: 204, body: '' }, /status 204\./, 1],
    'a redirect': [{ kind: 'redirect' }, /status 301\./, 1],
    'a redirect to itself': [{ kind: 'redirect', location: '?again' }, /status 301\./, 1],
    'a rate limit of an hour': [{ kind: 'rate-limit' }, /rate limit.*asks to wait/, 1],
    'a secondary rate limit of an hour': [
      { kind: 'secondary-rate-limit', status: 429, retryAfterSeconds: 3_600 },
      /secondary rate limit.*\(rate limit\).*asks to wait 1h/,
      1,
    ],
    'an HTML page': [{ kind: 'html' }, other, 5],
    'an HTML page with 403': [{ kind: 'html', status: 403 }, /status 403 and a body that is not JSON/, 5],
    'an HTML page with 404': [{ kind: 'html', status: 404 }, /status 404 and a body that is not JSON/, 5],
    '404 with other JSON': [respondWith(404, '{"error":"no such path"}'), /status 404/, 5],
    '404 without a body': [{ kind: 'status', status: 404, body: '' }, /status 404/, 5],
    'bad JSON': [{ kind: 'bad-json' }, other, 5],
    'an empty body': [{ kind: 'empty-body' }, other, 5],
    null: [respondWith(200, 'null'), other, 5],
    'another run': [respondWith(200, '{"id":12,"status":"completed"}'), other, 5],
    'a run whose id is a text': [respondWith(200, '{"id":"13","status":"completed"}'), other, 5],
    'a run without a status': [respondWith(200, '{"id":13,"run_attempt":9}'), other, 5],
    'a closed connection': [{ kind: 'cut-before-headers' }, /GitHub could not be reached \(.+\)/, 5],
    'a truncated body': [{ kind: 'cut-mid-body' }, /GitHub/, 5],
  };
  test.for(Object.entries(unusable))(
    'a run stays unknown if the response is %s',
    async ([, [fault, why, attempts]], context) => {
      const stage = await setRuns(context);
      github.faults.add({ path: '/runs/13', fault });
      github.addRun({ id: '13', status: 'completed' });
      const [old, young] = addOldAndYoung(stage, '13');
      expectWarned(await stage.sweep(), [old], [young], why);
      const paths = runsOf(requests()).map((path) => /^\d+/.exec(path)?.[0]);
      expect(paths).toEqual([ownRun, ...Array.from({ length: attempts }, () => '13')]);
    },
  );

  test('a response about a run whose id differs only beyond 2^53 leaves the run unknown', async (context) => {
    const stage = await setRuns(context);
    const [old, young] = addOldAndYoung(stage, '90071992547409931');
    const body = '{"id":90071992547409932,"status":"completed","run_attempt":1}';
    github.faults.add({ path: '/runs/90071992547409931', fault: respondWith(200, body) });
    expectWarned(await stage.sweep(), [old], [young], other);
  });

  const seconds = (offset: number) => String(epochMs / 1_000 + offset);
  const limits: readonly [what: string, Readonly<Record<string, string>>, message: string, from: number, to: number][] =
    [
      ['a time', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': seconds(90) }, 'Slow down', 90_000, 90_000],
      ['a time in the past', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': seconds(-5) }, 'Slow down', 0, 1_000],
      ['Retry-After', { 'retry-after': '7' }, 'You have exceeded a secondary rate limit.', 7_000, 7_000],
      ['no time at all', { 'x-ratelimit-reset': 'soon' }, 'You have exceeded a secondary rate limit.', 60_000, 60_000],
      ['its name in capitals alone', { 'x-ratelimit-reset': 'soon' }, 'RATE LIMIT exceeded', 60_000, 60_000],
    ];
  test.for(limits.flatMap((limit) => [403, 429].map((status) => [status, ...limit] as const)))(
    'a rate limit (%i) with %s is waited for',
    async ([status, , headers, message, from, to], context) => {
      const stage = await setRuns(context);
      respondTo(`/runs/${ownRun}`, status, JSON.stringify({ message }), headers);
      github.addRun({ id: '12', status: 'completed' });
      const revoked = [stage.addKey('12')];
      const result = await stage.sweep();
      expectSwept(result, 'ok', { revoked });
      expect(warningsOf(result)).toEqual([]);
      expect(runsOf(requests())).toEqual([ownRun, ownRun, '12']);
      expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(from);
      expect(Number(result.outputs['duration-ms'])).toBeLessThanOrEqual(to);
    },
  );

  test('a redirect of GitHub to another server is not followed, and that server gets no token', async (context) => {
    const stage = await setRuns(context);
    const elsewhere = await startGitHub(repository);
    context.onTestFinished(() => elsewhere.close());
    elsewhere.addRun({ id: '11', status: 'completed' });
    const location = `${elsewhere.url}/repos/acme/shop/actions/runs/11`;
    github.faults.add({ path: '/runs/11', fault: { kind: 'redirect', location } });
    const [old, young] = addOldAndYoung(stage);
    expectWarned(await stage.sweep(), [old], [young], /status 301/);
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
    'as the status of the run': respondWith(200, JSON.stringify({ id: 11, status: token, run_attempt: token })),
  };
  test.for(Object.entries(echoes))(
    'a token that GitHub echoes %s is in no log, summary or file',
    async ([, fault], context) => {
      const stage = await setRuns(context);
      github.faults.add({ path: '/runs/11', fault });
      stage.addKey('11');
      const result = await stage.sweep();
      expect(result.conclusion).toBe('success');
      expect(result.masks).toContain(token);
      const file = result.readFile(result.outputs['result-file'] ?? '');
      const { summary, outputs, env } = result;
      const shown = [withoutMasks(result.output), summary, JSON.stringify([outputs, env]), file].join();
      const parts = Array.from({ length: token.length - 12 }, (_, at) => token.slice(at, at + 12));
      expect(parts.filter((part) => shown.includes(part))).toEqual([]);
    },
  );
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

  test.concurrent('revokes keys of runs that are over, and exits although GitHub keeps its connection open', async (context) => {
    const stage = await setProcess(context);
    stage.github.addRun({ id: '12' });
    const revoked = [stage.addKey('11')];
    const kept = [stage.addKey('12')];
    const result = await stage.run();
    expectSwept(result, 'ok', { revoked, kept });
    expect(warningsOf(result)).toEqual([]);
    expect(result.overran).toBe(false);
    expect(runsOf(stage.github.requests)).toEqual([ownRun, '11', '12', '11', ownRun]);
  });

  test.concurrent('uses the API path of GitHub Enterprise', async (context) => {
    const stage = await setProcess(context, { basePath: '/api/v3' });
    const fingerprint = repositoryFingerprint('https://ghe.example', repositoryId);
    const revoked = [stage.addKey('11', { fingerprint })];
    const result = await stage.run({}, { GITHUB_SERVER_URL: 'https://ghe.example' });
    expectSwept(result, 'ok', { revoked });
    expect(stage.github.requests[0]?.path).toBe(`/api/v3/repos/acme/shop/actions/runs/${ownRun}`);
  });

  test.concurrent('revokes only old keys if GitHub does not respond', async (context) => {
    const stage = await setProcess(context);
    stage.github.faults.add({ fault: { kind: 'hang-before-headers' } });
    const [old, young] = addOldAndYoung(stage);
    const result = await stage.run({ 'request-timeout': '1s' });
    expectWarned(result, [old], [young], /GitHub did not respond within request-timeout/);
    expect(new Set(runsOf(stage.github.requests))).toEqual(new Set([ownRun]));
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

  test.concurrent.for<[what: string, behaviour: ProxyBehaviour | undefined]>([
    ['rejects', { kind: 'says', text: loginRequired }],
    ['is silent', { kind: 'silent' }],
    ['does not exist', undefined],
  ])('revokes only old keys behind a proxy that %s', async ([, behaviour], context) => {
    const port = behaviour === undefined ? 1 : (await startProxy(context, 1, behaviour)).port;
    const stage = await setProcess(context);
    const [old, young] = addOldAndYoung(stage);
    const result = await stage.run({ 'request-timeout': '1s' }, behind(port, 'ci:hunter2@'));
    expectWarned(result, [old], [young], /GitHub/);
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
