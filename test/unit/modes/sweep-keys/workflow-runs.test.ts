import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fault, type RunningGitHub, startGitHub } from '../../../github/index.js';

const date = Date.UTC(2026, 0, 31, 9, 30);
const clock = { now: () => date, schedule: () => () => undefined };
const never = (): void => undefined;

let github: RunningGitHub;
let workflowRuns: typeof import('../../../../src/modes/sweep-keys/workflow-runs.js').workflowRuns;

beforeAll(async () => {
  github = await startGitHub({ token: 'gh-token', repository: 'acme/shop', repositoryId: 123456789, clock });
  const before = process.env['GITHUB_API_URL'];
  // Read once, when @actions/github is loaded: all tests share one GitHub.
  process.env['GITHUB_API_URL'] = github.url;
  const utils = await import('@actions/github/lib/utils');
  ({ workflowRuns } = await import('../../../../src/modes/sweep-keys/workflow-runs.js'));
  if (before === undefined) delete process.env['GITHUB_API_URL'];
  else process.env['GITHUB_API_URL'] = before;
  expect(utils.defaults.baseUrl).toBe(github.url);
});

let seenBefore = 0;

beforeEach(() => {
  seenBefore = github.requests.length;
});

afterEach(() => github.faults.clear());

afterAll(() => github.close());

function paths(): string[] {
  return github.requests.slice(seenBefore).map(({ path }) => path);
}

function look(id: string, { token = 'gh-token', repository = 'acme/shop' } = {}) {
  return workflowRuns(token, repository, () => date).find(id, never);
}

describe('a run', () => {
  it.each([
    ['1', { status: 'completed' }, { attempt: 1, isCompleted: true }],
    ['2', { status: 'completed', conclusion: 'failure', attempt: 3 }, { attempt: 3, isCompleted: true }],
    ['3', { status: 'in_progress', attempt: 2 }, { attempt: 2, isCompleted: false }],
    ['4', { status: 'queued' }, { attempt: 1, isCompleted: false }],
    ['5', { status: 'of_tomorrow' }, { attempt: 1, isCompleted: false }],
  ])('%s that is %j is seen', async (id, fields, seen) => {
    github.addRun({ id, ...fields });
    expect(await look(id)).toEqual({ run: seen });
    expect(paths()).toEqual([`/repos/acme/shop/actions/runs/${id}`]);
  });

  it.each(['9007199254740991', '9007199254740993', '18446744073709551615'])('may have the id %s', async (id) => {
    github.addRun({ id, status: 'completed' });
    expect(await look(id)).toEqual({ run: { attempt: 1, isCompleted: true } });
    expect(paths()).toEqual([`/repos/acme/shop/actions/runs/${id}`]);
  });

  it.each(['', '"run_attempt":null,', '"run_attempt":"2",'])('may come with %j for its attempt', async (attempt) => {
    answers(200, `{"id":6,${attempt}"status":"in_progress"}`);
    expect(await look('6')).toEqual({ run: { attempt: undefined, isCompleted: false } });
  });

  it('is asked for by an action that says its name and version', async () => {
    await look('1');
    expect(github.requests.at(-1)?.headers['user-agent']).toMatch(/^ctl-action\/\d+\.\d+\.\d+ octokit/);
  });

  it('that GitHub does not find is gone', async () => {
    expect(await look('404')).toEqual({ run: 'gone' });
  });

  it('is gone, too, where that question was the last of the hour', async () => {
    answers(404, '{"message":"Not Found"}', { 'x-ratelimit-remaining': '0' });
    expect(await look('1')).toEqual({ run: 'gone' });
  });
});

describe('what does not show a run', () => {
  it('is asked for without a token not at all', async () => {
    const answer = await look('1', { token: '' });
    expect(answer).toEqual({
      failure: { message: expect.stringContaining('github-token is empty'), transient: false },
    });
    expect(paths()).toEqual([]);
  });

  it('is a bad token', async () => {
    expect(await look('1', { token: 'another' })).toEqual({
      failure: { message: 'GitHub responded with status 401: Bad credentials', status: 401, transient: false },
    });
  });

  it.each<[what: string, fault: Fault, unseen: object]>([
    [
      'no permission',
      { kind: 'no-permission' },
      {
        message: 'GitHub responded with status 403: Resource not accessible by integration',
        status: 403,
        transient: false,
      },
    ],
    ...([403, 429] as const).flatMap((status): [string, Fault, object][] => [
      [
        `a rate limit with ${status}`,
        { kind: 'rate-limit', status, resetInSeconds: 90 },
        { message: limited(status), status: 429, transient: true, retryAfterMs: 90_000 },
      ],
      [
        `a rate limit with ${status} that is over`,
        { kind: 'rate-limit', status, resetInSeconds: -5 },
        { message: limited(status), status: 429, transient: true, retryAfterMs: 0 },
      ],
      [
        `a secondary rate limit with ${status}`,
        { kind: 'secondary-rate-limit', status, retryAfterSeconds: 7 },
        { message: limited(status), status: 429, transient: true, retryAfterMs: 7_000 },
      ],
      [
        `a rate limit with ${status} that does not say when it ends`,
        {
          kind: 'status',
          status,
          headers: { 'x-ratelimit-reset': 'soon' },
          body: '{"message":"You have exceeded a secondary rate limit."}',
        },
        { message: limited(status), status: 429, transient: true, retryAfterMs: 60_000 },
      ],
    ]),
    [
      'a service that is down',
      { kind: 'status', status: 503 },
      { message: 'GitHub responded with status 503: Service Unavailable', status: 503, transient: true },
    ],
    [
      'a refusal',
      { kind: 'status', status: 422 },
      { message: 'GitHub responded with status 422: Unprocessable Entity', status: 422, transient: false },
    ],
    [
      'a run that was removed',
      { kind: 'status', status: 410 },
      { message: 'GitHub responded with status 410: Gone', status: 410, transient: false },
    ],
    [
      'a page with 404',
      { kind: 'html', status: 404 },
      { message: 'GitHub responded with status 404 and a body that is not JSON', status: 404, transient: true },
    ],
    [
      'a page with 502',
      { kind: 'html', status: 502 },
      { message: 'GitHub responded with status 502 and a body that is not JSON', status: 502, transient: true },
    ],
    [
      '404 with other JSON',
      { kind: 'status', status: 404, body: '{"error":"no such path"}' },
      { message: expect.stringContaining('status 404'), status: 404, transient: true },
    ],
    [
      '404 with a text in JSON',
      { kind: 'status', status: 404, body: '"Not Found"' },
      { message: expect.stringContaining('status 404'), status: 404, transient: true },
    ],
    ['a page', { kind: 'html' }, otherThing()],
    ['JSON that is none', { kind: 'bad-json' }, otherThing()],
    ['an empty body', { kind: 'empty-body' }, otherThing()],
    [
      '204',
      { kind: 'status', status: 204, body: '' },
      { message: 'GitHub responded with status 204', status: 204, transient: false },
    ],
    ['null', { kind: 'status', status: 200, body: 'null' }, otherThing()],
    ['a list', { kind: 'status', status: 200, body: '[{"id":1,"status":"completed"}]' }, otherThing()],
    ['another run', { kind: 'status', status: 200, body: '{"id":2,"status":"completed"}' }, otherThing()],
    ['an id as a text', { kind: 'status', status: 200, body: '{"id":"1","status":"completed"}' }, otherThing()],
    ['no id', { kind: 'status', status: 200, body: '{"status":"completed"}' }, otherThing()],
    ['no status', { kind: 'status', status: 200, body: '{"id":1,"run_attempt":2}' }, otherThing()],
    [
      'a closed connection',
      { kind: 'cut-before-headers' },
      { message: expect.stringMatching(/^GitHub could not be reached \(.+\)$/), transient: true },
    ],
    ['a body cut short', { kind: 'cut-mid-body' }, { message: expect.stringMatching(/^GitHub /), transient: true }],
    [
      'a redirect',
      { kind: 'redirect', location: '?again' },
      { message: 'GitHub responded with status 301', status: 301, transient: false },
    ],
  ])('is %s', async (_, fault, unseen) => {
    github.addRun({ id: '1' });
    github.faults.add({ path: '/runs/1', fault });
    expect(await look('1')).toEqual({ failure: unseen });
  });

  it('is told in few words, on one line', async () => {
    answers(403, JSON.stringify({ message: `::error::x\n\u001b[31m${'x'.repeat(5_000)}` }));
    const answer = await look('1');
    const message = 'failure' in answer ? answer.failure.message : '';
    expect(message).toMatch(/^GitHub responded with status 403: ::error::x x+…$/);
    expect(message.length).toBeLessThan(400);
  });
});

it('a look that is stopped ends', async () => {
  github.faults.add({ fault: { kind: 'hang-before-headers' } });
  let stop = never;
  const looking = workflowRuns('gh-token', 'acme/shop', () => date).find('1', (call) => {
    stop = call;
  });
  await github.arrived({ n: seenBefore + 1 });
  stop();
  // In words or as an error: whoever stopped it does not listen any more.
  const end = await looking.then(
    (answer) => ('failure' in answer ? 'unseen' : 'seen'),
    () => 'unseen',
  );
  expect(end).toBe('unseen');
});

function answers(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
  github.faults.add({ fault: { kind: 'status', status, body, headers } });
}

function limited(status: number): unknown {
  return expect.stringMatching(
    new RegExp(`^GitHub responded with status ${status}: .* rate limit.* \\(rate limit\\)$`),
  );
}

function otherThing(): object {
  return { message: 'GitHub responded with something other than the requested run', transient: true };
}
