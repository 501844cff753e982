import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../control-plane/index.js';
import { type Fault, type GitHubOptions, type RunningGitHub, startGitHub } from '../../../github/index.js';
import { type Fetch, fetchRaw, type Seen } from '../../control-plane/asking.js';

const running: RunningGitHub[] = [];

async function start(options: Partial<GitHubOptions> = {}): Promise<RunningGitHub> {
  const defaults = { token: 'gh-token', repository: 'acme/shop', repositoryId: 123456789, clock: new ManualClock() };
  const github = await startGitHub({ ...defaults, ...options });
  running.push(github);
  github.addRun({ id: '1' });
  return github;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((github) => github.close()));
});

const runs = '/repos/acme/shop/actions/runs';

function get(github: RunningGitHub, path: string, { headers = {}, ...options }: Fetch = {}): Promise<Seen> {
  return fetchRaw(github.url + path, {
    ...options,
    headers: { 'user-agent': 'test', authorization: 'token gh-token', ...headers },
  });
}

describe('a run', () => {
  it('is told with its repository, and with headers as of GitHub', async () => {
    const github = await start();
    github.addRun({ id: '9876543210', attempt: 2, status: 'completed', conclusion: 'failure', createdAt: 1000 });
    const { status, headers, body } = await get(github, `${runs}/9876543210`);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      id: 9876543210,
      run_attempt: 2,
      status: 'completed',
      conclusion: 'failure',
      html_url: `${github.url}/acme/shop/actions/runs/9876543210`,
      created_at: '1970-01-01T00:00:01Z',
      run_started_at: '2024-01-01T00:00:00Z',
      updated_at: '2024-01-01T00:00:00Z',
      repository: { id: 123456789, full_name: 'acme/shop' },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(body.length),
      'x-github-request-id': '0001:1C0D:2A5E11:55D0C9:65920080',
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': String(Date.UTC(2024, 0, 1, 1) / 1000),
      'x-ratelimit-used': '1',
      'x-ratelimit-resource': 'core',
    });
  });

  it('is in progress, at its first attempt, and new, when not told otherwise', async () => {
    const github = await start();
    expect(JSON.parse((await get(github, `${runs}/1`)).body)).toMatchObject({
      run_attempt: 1,
      status: 'in_progress',
      conclusion: null,
      created_at: '2024-01-01T00:00:00Z',
    });
  });

  it('may have an id beyond 2^53, as may its repository', async () => {
    const github = await start({ repositoryId: '9007199254740995' });
    github.addRun({ id: '90071992547409931' });
    const { body } = await get(github, `${runs}/90071992547409931`);
    expect(body).toContain('{"id":90071992547409931,');
    expect(body).toContain('"repository":{"id":9007199254740995,');
  });

  it.each(['', '0', '01', '-1', '1.5', '1e3', 'x', '1\n'])('has no id %j', async (id) => {
    const github = await start();
    expect(() => github.addRun({ id })).toThrow('An id is digits');
  });

  it('can be changed and removed', async () => {
    const github = await start();
    Object.assign(github.run('1'), { status: 'completed', conclusion: 'success', attempt: 3 });
    expect(JSON.parse((await get(github, `${runs}/1`)).body)).toMatchObject({
      run_attempt: 3,
      status: 'completed',
      conclusion: 'success',
    });
    github.removeRun('1');
    expect((await get(github, `${runs}/1`)).status).toBe(404);
    expect(() => github.run('1')).toThrow('There is no run 1.');
  });

  it.each([
    '/repos/ACME/Shop/actions/runs/1',
    '/repositories/123456789/actions/runs/1',
    `${runs}/1?exclude_pull_requests=true`,
  ])('is found at %s', async (path) => {
    const { status, body } = await get(await start(), path);
    expect([status, JSON.parse(body).repository.full_name]).toEqual([200, 'acme/shop']);
  });
});

describe('not found', () => {
  it.each([`${runs}/2`, `${runs}/01`, '/repos/acme/other/actions/runs/1', '/repositories/987654321/actions/runs/1'])(
    'is %s, as a run',
    async (path) => {
      const { status, headers, body } = await get(await start(), path);
      expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
      expect(JSON.parse(body)).toEqual({
        message: 'Not Found',
        documentation_url: 'https://docs.github.com/rest/actions/workflow-runs#get-a-workflow-run',
        status: '404',
      });
    },
  );

  it.each(['', '/', runs, `${runs}/`, `${runs}/x`, `${runs}/1/jobs`, `/api/v3${runs}/1`])(
    'is %j, as an endpoint',
    async (path) => {
      const { status, body } = await get(await start(), path);
      expect([status, JSON.parse(body).message]).toEqual([404, 'Not Found']);
    },
  );

  it('is what a run has beside GET', async () => {
    const github = await start();
    expect((await get(github, `${runs}/1`, { method: 'DELETE' })).status).toBe(404);
    expect(github.run('1').status).toBe('in_progress');
  });

  it('is all to a stranger, because the repository is private', async () => {
    const github = await start();
    const seen = await fetchRaw(`${github.url}${runs}/1`, { headers: { 'user-agent': 'test' } });
    expect(seen.status).toBe(404);
  });
});

describe('the base path', () => {
  it('is a part of the url, and of every path', async () => {
    const github = await start({ basePath: '/api/v3' });
    expect(github.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v3$/);
    const { body } = await get(github, `${runs}/1`);
    const { origin } = new URL(github.url);
    expect(JSON.parse(body).html_url).toBe(`${origin}/acme/shop/actions/runs/1`);
    const beside = await fetchRaw(`${origin}${runs}/1`, { key: 'gh-token', headers: { 'user-agent': 'test' } });
    expect(beside.status).toBe(404);
  });
});

describe('the token', () => {
  it.each(['token gh-token', 'Bearer gh-token', 'bearer gh-token'])('is welcome as %j', async (authorization) => {
    expect((await get(await start(), `${runs}/1`, { headers: { authorization } })).status).toBe(200);
  });

  it.each(['token other', 'Bearer gh-token2', 'Basic gh-token', 'gh-token', 'token'])(
    'is wrong as %j',
    async (authorization) => {
      const { status, body } = await get(await start(), `${runs}/1`, { headers: { authorization } });
      expect(status).toBe(401);
      expect(JSON.parse(body)).toEqual({
        message: 'Bad credentials',
        documentation_url: 'https://docs.github.com/rest',
        status: '401',
      });
    },
  );

  it('does not help without a User-Agent', async () => {
    const github = await start();
    const { status, body } = await fetchRaw(`${github.url}${runs}/1`, { key: 'gh-token' });
    expect([status, body]).toEqual([403, expect.stringContaining('User-Agent')]);
  });
});

describe('a fault', () => {
  const newYear2024 = Date.UTC(2024, 0, 1) / 1000;
  const cases: [Fault, Partial<Seen>][] = [
    [
      { kind: 'no-permission' },
      {
        status: 403,
        headers: expect.objectContaining({ 'x-accepted-github-permissions': 'actions=read' }),
        body: expect.stringContaining('"Resource not accessible by integration"'),
      },
    ],
    [
      { kind: 'rate-limit' },
      {
        status: 403,
        headers: expect.objectContaining({
          'x-ratelimit-remaining': '0',
          'x-ratelimit-used': '1000',
          'x-ratelimit-reset': String(newYear2024 + 3600),
        }),
        body: expect.stringContaining('"API rate limit exceeded for installation ID 1."'),
      },
    ],
    [
      { kind: 'rate-limit', status: 429, resetInSeconds: 7 },
      { status: 429, headers: expect.objectContaining({ 'x-ratelimit-reset': String(newYear2024 + 7) }) },
    ],
    [
      { kind: 'secondary-rate-limit' },
      {
        status: 403,
        headers: expect.objectContaining({ 'retry-after': '60', 'x-ratelimit-remaining': '999' }),
        body: expect.stringContaining('"You have exceeded a secondary rate limit.'),
      },
    ],
    [
      { kind: 'secondary-rate-limit', status: 429, retryAfterSeconds: 2 },
      { status: 429, headers: expect.objectContaining({ 'retry-after': '2' }) },
    ],
    [
      { kind: 'status', status: 503 },
      { status: 503, body: expect.stringMatching(/^{"message":"Service Unavailable",.*"status":"503"}$/) },
    ],
    [
      { kind: 'redirect', location: 'http://127.0.0.1:9/' },
      {
        status: 301,
        headers: expect.objectContaining({ location: 'http://127.0.0.1:9/' }),
        body: expect.stringContaining('"Moved Permanently"'),
      },
    ],
  ];
  it.each(cases)('%j, and the next exchange is sound', async (fault, expected) => {
    const github = await start({ faults: [{ nth: 1, fault }] });
    expect(await get(github, `${runs}/1`)).toMatchObject(expected);
    expect(await get(github, `${runs}/1`)).toMatchObject({ status: 200, error: undefined });
    expect(github.requests).toMatchObject([{ status: expected.status }, { fault: undefined, status: 200 }]);
  });

  it('redirect: to the same run by the id of the repository, as after a renaming', async () => {
    const github = await start({ basePath: '/api/v3', faults: [{ path: '/repos/', fault: { kind: 'redirect' } }] });
    const { headers } = await get(github, `${runs}/1`);
    const byId = '/repositories/123456789/actions/runs/1';
    expect(headers.location).toBe(github.url + byId);
    expect((await get(github, byId)).status).toBe(200);
  });
});
