import { afterAll, expect, test, vi } from 'vitest';
import { type Fault, startGitHub } from '../../../../control-plane/github/index.js';
import type { RunState } from '../../../../src/modes/sweep-keys/workflow-runs.js';

const token = `ghs_${'Zq7Wm4Lk9Xs2Vb'.repeat(3)}`;
const repository = { token, repository: 'acme/shop', repositoryId: '123456789' };
const epochMs = Date.UTC(2024, 0, 1);

// The client reads the variable once, when it is loaded: these tests share one GitHub.
const github = await startGitHub(repository);
afterAll(() => github.close());
vi.stubEnv('GITHUB_API_URL', github.url);
const { workflowRuns } = await import('../../../../src/modes/sweep-keys/workflow-runs.js');
vi.unstubAllEnvs();
github.addRun({ id: '13', status: 'completed', attempt: 3 });

/** One lookup of a run, whose request meets the fault. */
async function find(id: string, fault?: Fault, own = token) {
  const earlier = github.requests.length;
  github.faults.clear();
  if (fault !== undefined) github.faults.add({ path: `/runs/${id}`, fault });
  const outcome = await workflowRuns(own, 'acme/shop', () => epochMs)(id, () => undefined);
  return { outcome, requests: github.requests.slice(earlier) };
}

const none = { 'x-ratelimit-remaining': '0' };
type Headers = Readonly<Record<string, string>>;
const respondWith = (status: number, body = '', headers: Headers = {}): Fault => {
  return { kind: 'status', status, body, headers };
};
const says = (message: string) => JSON.stringify({ message });

test('sweep-keys sends its token and the name of the action to GitHub', async () => {
  const { outcome, requests } = await find('13');
  expect(outcome).toEqual({ attempt: 3, isCompleted: true });
  const agent = expect.stringMatching(/^ctl-action\/\d+\.\d+\.\d+ octokit/);
  const headers = { authorization: `token ${token}`, 'user-agent': agent };
  expect(requests).toMatchObject([{ method: 'GET', path: '/repos/acme/shop/actions/runs/13', headers }]);
});

test('sweep-keys without a github-token sends no request to GitHub', async () => {
  const { outcome, requests } = await find('13', undefined, '');
  expect(outcome).toMatchObject({ message: expect.stringMatching(/github-token is empty/) });
  expect(requests).toEqual([]);
});

test.for<[claim: string, fields: string, run: RunState]>([
  ['with status completed is done', '"status":"completed","run_attempt":2', { isCompleted: true, attempt: 2 }],
  ['with status in_progress is not done', '"status":"in_progress","run_attempt":1', { isCompleted: false, attempt: 1 }],
])('a workflow run %s', async ([, fields, run]) => {
  expect((await find('13', respondWith(200, `{"id":13,${fields}}`))).outcome).toEqual(run);
});

const hostile = `::error::HACKED\n::set-output name=status::HACKED\n\u001b[2J${'x'.repeat(5_000)}`;
const shortened = /^GitHub responded with status 403: ::error::HACKED [^\p{Cc}\p{Cf}]{1,300}x…$/u;
const other = /something other than the requested run/;

test('a workflow run counts as gone after a 404 from GitHub, even if the rate limit is used up', async () => {
  for (const fault of [undefined, respondWith(404, says('Not Found'), none)])
    expect((await find('404', fault)).outcome).toBe('gone');
});

test.for<[what: string, Fault, why: RegExp, transient: boolean]>([
  ['a 403', { kind: 'no-permission' }, /status 403: Resource not accessible by integration$/, false],
  ['a 403 with a long hostile text', respondWith(403, says(hostile)), shortened, false],
  ['a 503', { kind: 'status', status: 503 }, /status 503: Service Unavailable$/, true],
  ['a rate limit without Retry-After', { kind: 'rate-limit' }, /rate limit/, false],
  ['a secondary rate limit', { kind: 'secondary-rate-limit', status: 429 }, /secondary rate limit/, true],
  ['an HTML page', { kind: 'html' }, other, true],
  ['an HTML page with status 404', { kind: 'html', status: 404 }, /status 404 and no message$/, true],
  ['a 404 without a message', respondWith(404, '{"error":"no such path"}'), /status 404 and no message$/, true],
  ['invalid JSON', { kind: 'bad-json' }, other, true],
  ['a response for another run', respondWith(200, '{"id":12,"status":"completed","run_attempt":1}'), other, true],
  ['a run without its attempt', respondWith(200, '{"id":13,"status":"completed"}'), other, true],
  ['a run whose id is text', respondWith(200, '{"id":"13","status":"completed","run_attempt":1}'), other, true],
  ['a closed connection', { kind: 'cut-before-headers' }, /GitHub could not be reached \(.+\)/, true],
  ['a truncated body', { kind: 'cut-mid-body' }, /GitHub/, true],
])('the state of a workflow run stays unknown if GitHub responds with %s', async ([, fault, why, transient]) => {
  const { outcome, requests } = await find('13', fault);
  expect(outcome).toMatchObject({ message: expect.stringMatching(why), transient });
  expect(requests).toHaveLength(1);
});

test.for([403, 429])('a request that GitHub answers with %i and Retry-After: 7 is repeated after 7 s', async (code) => {
  const { outcome } = await find('13', respondWith(code, says('Slow down'), { 'retry-after': '7' }));
  expect(outcome).toMatchObject({ status: 429, transient: true, retryAfterMs: 7_000 });
});

test('sweep-keys does not follow a redirect from GitHub to another server', async (context) => {
  const elsewhere = await startGitHub(repository);
  context.onTestFinished(() => elsewhere.close());
  elsewhere.addRun({ id: '13', status: 'completed' });
  const location = `${elsewhere.url}/repos/acme/shop/actions/runs/13`;
  const { outcome } = await find('13', { kind: 'redirect', location });
  expect(outcome).toMatchObject({ message: 'GitHub responded with status 301', transient: false });
  expect(elsewhere.requests).toEqual([]);
});

test.for<[how: string, Fault]>([
  ['in a message', respondWith(403, says(`no: ${token}`))],
  ['where the message is cut', respondWith(403, says(`${'x'.repeat(280)} ${token}`))],
  ['in an HTML page', respondWith(403, `<html><title>${token}</title></html>`)],
  ['in the target of a redirect', { kind: 'redirect', location: `http://127.0.0.1:1/${token}` }],
])('an error about a workflow run shows no part of a token that GitHub repeats %s', async ([, fault]) => {
  const result = JSON.stringify((await find('13', fault)).outcome);
  const parts = Array.from({ length: token.length - 12 }, (_, at) => token.slice(at, at + 12));
  expect(parts.filter((part) => result.includes(part))).toEqual([]);
});
