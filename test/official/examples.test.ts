import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { startProxy } from '../kit/peers.js';
import { authorityFile, good } from '../kit/tls/certificates.js';
import { github, token } from './message.js';
import { jobsAlone } from './workflow.js';
import { setWorkflowStage } from './workflow-stage.js';

const exiting3 = '#!/bin/sh\nexit 3\n';
const exitCode3 = 'Process completed with exit code 3.';

const tried = new Set<string>();

/** One test of a job of a file of `examples`, which is run as it stands. */
function example(
  name: string,
  jobId: string,
  promise: string,
  attempt: (place: readonly [file: string, jobId: string], context: TestContext) => Promise<void>,
): void {
  tried.add(`${name} ${jobId}`);
  test.concurrent(`${name}: job ${jobId} ${promise}`, (context) => attempt([join('examples', name), jobId], context));
}

test('test/official tries each example job that can run alone', () => {
  const alone = readdirSync('examples').flatMap((name) =>
    jobsAlone(readFileSync(join('examples', name), 'utf8')).map((jobId) => `${name} ${jobId}`),
  );
  expect([...tried].sort()).toEqual(alone.sort());
});

example('first-run.yml', 'list', 'shows the projects of the account', async (place, context) => {
  const { run, projectId } = await setWorkflowStage(context, { projects: 2 });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['list-projects']?.summary).toMatch(/^### ✅ list-projects: 2 projects/);
  expect(job.steps['list-projects']?.summary).toContain(projectId);
});

example('first-run.yml', 'list', 'fails and says that the API key was rejected', async (place, context) => {
  const { run } = await setWorkflowStage(context);

  const job = await run(...place, { secrets: { CTL_API_KEY: 'mistyped-key' } });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['list-projects']?.errors).toEqual([
    expect.stringMatching(
      /^GET \/v2\/projects: status 401.* The API key was rejected: .* Set api-key to a valid key\.$/,
    ),
  ]);
});

example('deploy-gate.yml', 'change', 'creates a branch, and waits for its operations', async (place, context) => {
  const { service, projectId, run, story } = await setWorkflowStage(context, { newOperations: { lengthMs: 400 } });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(story()).toEqual(['create-branch, key 1', 'get-operation, key 1']);
  expect(service.requests[0]).toMatchObject({ path: `/v2/projects/${projectId}/branches`, body: '{}' });
  expect(job.steps['send-request']?.summary).toMatch(/^### ✅ send-request: .*2 operations finished/);
  expect(job.sent).not.toContain(service.apiKey);
});

example('deploy-gate.yml', 'change', 'stops if the API rejects the request', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);
  service.faults.add({ path: '/branches', fault: { kind: 'status', status: 422 } });

  const job = await run(...place);

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual(['create-branch, key 1']);
  expect(job.steps['send-request']?.errors).toEqual([expect.stringContaining('The service says 422.')]);
});

example('after-the-cli.yml', 'change', 'fails if the client started no operation', async (place, context) => {
  const { run, script, story } = await setWorkflowStage(context);

  const job = await run(...place, { files: { 'change.sh': script('change') } });

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual(['change, key 1', 'list-operations, key 1']);
  expect(job.steps['wait-operation']?.errors).toEqual([expect.stringContaining('no operation')]);
});

example(
  'key-for-one-job.yml',
  'migrate',
  'creates a key for its script, and revokes it in post',
  async (place, context) => {
    const { service, run, script, story } = await setWorkflowStage(context);

    const job = await run(...place, { files: { 'migrate.sh': script('migrate') } });

    expect(job.conclusion).toBe('succeeded');
    // The key revokes itself, and gets DELETEs until one gets 401.
    expect([...new Set(story())]).toEqual(['create-key, key 1', 'migrate, key 2', 'revoke-key, key 2']);
    expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
    expect(job.steps['mint']?.summary).toMatch(/^### ✅ create-key: Created key 2 \(shop-run19512345678-1-\S+\)/);
    expect(job.steps['Post mint']?.summary).toMatch(/^### ✅ create-key: Revoked 2 \(/);
    expect(job.steps['Run ./migrate.sh']?.log).toContain('It runs with <***>.');
    for (const secret of [service.apiKey, service.plane.key('2')?.key ?? '']) expect(job.sent).not.toContain(secret);
  },
);

example('key-for-one-job.yml', 'migrate', 'revokes its key even if the script fails', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);

  const job = await run(...place, { files: { 'migrate.sh': exiting3 } });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['Run ./migrate.sh']?.errors).toEqual([exitCode3]);
  expect([...new Set(story())]).toEqual(['create-key, key 1', 'revoke-key, key 2']);
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.isAlive('2')).toBe(false);
});

const rotation = ['rotate-parent-key.yml', 'rotate'] as const;

/** Stands in for GitHub's CLI: notes its arguments and what it reads. */
const gh = (notes: string, exitCode: number) => `#!/bin/sh
{ echo "$GH_REPO $*"; if test "$1" = secret; then cat; echo; fi; } >> '${notes}'
exit ${exitCode}
`;

for (const [promise, { id, exitCode }, conclusion, alive] of [
  ['stores a new key, and revokes the old one', { id: '1', exitCode: 0 }, 'succeeded', ['2', '3']],
  ['revokes no key if it cannot store the new one', { id: '1', exitCode: 1 }, 'failed', ['1', '2', '3']],
  ['makes no key if the id of the old key is wrong', { id: '7', exitCode: 0 }, 'failed', ['1', '2']],
] as const) {
  example(...rotation, promise, async (place, context) => {
    const { service, run } = await setWorkflowStage(context);
    service.plane.addKey('of somebody else');
    const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const notes = join(folder, 'notes');
    writeFileSync(notes, '');
    writeFileSync(join(folder, 'gh'), gh(notes, exitCode), { mode: 0o755 });

    const job = await run(...place, {
      vars: { CTL_API_KEY_ID: id },
      secrets: { ROTATION_TOKEN: 'token-that-writes-secrets' },
      runnerEnv: { PATH: `${folder}:${process.env['PATH']}` },
    });

    expect(job.conclusion).toBe(conclusion);
    expect(service.plane.aliveKeys().map((key) => key.id)).toEqual(alive);
    const { key } = service.plane.key('3') ?? { key: 'not made' };
    expect(job.sent).not.toContain(key);
    const calls = [`acme/shop secret set CTL_API_KEY\n${key}\n`, 'acme/shop variable set CTL_API_KEY_ID --body 3\n'];
    const made = id === '1' ? calls.slice(0, exitCode === 0 ? 2 : 1) : [];
    expect(readFileSync(notes, 'utf8')).toBe(made.join(''));
  });
}

example('fan-out-in-batches.yml', 'list', 'outputs batches with the projects of the region', async (place, context) => {
  const { service, run } = await setWorkflowStage(context, { projects: 4 });
  const all: { id: string; region_id: string }[] = JSON.parse(service.plane.projectsJson);
  const wanted = all.filter(({ region_id: region }) => region.includes('-eu-')).map(({ id }) => id);

  const job = await run(...place);

  expect(wanted).toHaveLength(2);
  expect(JSON.parse(job.outputs['batches'] ?? '')).toEqual(wanted.map((id) => [id]));
});

example('failed-operations.yml', 'look', 'fails if an operation failed, and shows it', async (place, context) => {
  const { service, run } = await setWorkflowStage(context, { operations: 5 });
  const failed = service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 5 * 3_600_000 });

  const job = await run(...place);

  expect(job.conclusion).toBe('failed');
  expect(job.steps['list-operations']).toMatchObject({
    errors: [expect.stringContaining('Found 1 operation')],
    summary: expect.stringContaining(failed.id),
  });
});

example('failed-operations.yml', 'look', 'succeeds if the last failed operation is old', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);
  service.plane.startOperation({ lengthMs: 0 });
  service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 7 * 3_600_000 });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(story()).toEqual(['list-operations, key 1']);
});

example(
  'clean-up-keys.yml',
  'sweep',
  'revokes only the keys of runs that are over, and fails if there were any',
  async (place, context) => {
    const { service, run } = await setWorkflowStage(context);
    const { repository, repository_id: repositoryId, server_url: server, run_id: ownRun } = github;
    const api = await startGitHub({ token, repository, repositoryId });
    context.onTestFinished(() => api.close());
    api.addRun({ id: ownRun });
    api.addRun({ id: '7', status: 'completed', conclusion: 'cancelled' });
    api.addRun({ id: '8' });
    const nameIn = (id: string, ofRepository = repositoryId) =>
      makeKeyName(
        'shop',
        { run: { id, attempt: 1, fingerprint: repositoryFingerprint(server, ofRepository) }, isKept: false },
        Math.random,
      );
    const [over, gone, running, foreign, console_] = [
      nameIn('7'),
      nameIn('9'),
      nameIn('8'),
      nameIn('7', '7654321'),
      'shop of the console',
    ].map((name) => service.plane.addKeyOfAge(name, 2 * 86_400_000));

    const job = await run(...place, { apiUrl: api.url });

    expect(job.conclusion).toBe('failed');
    expect(service.plane.aliveKeys().slice(1)).toEqual([running, foreign, console_]);
    expect(service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
      `/v2/api_keys/${over?.id}`,
      `/v2/api_keys/${gone?.id}`,
    ]);
    expect(api.requests.length).toBeGreaterThan(0);
    expect(api.requests.every(({ headers }) => headers['authorization']?.endsWith(token))).toBe(true);
    expect(job.steps['sweep-keys']).toMatchObject({ errors: [expect.stringMatching(/2 keys/)], warnings: [] });
  },
);

for (const [promise, ages, found] of [
  ['fails if a key is old, and names it', { console: 400, laptop: 91, robot: 89 }, ['laptop']],
  ['succeeds if the only old key is the exception', { console: 400, robot: 89 }, []],
] as const) {
  example('clean-up-keys.yml', 'audit', promise, async (place, context) => {
    const { service, run } = await setWorkflowStage(context);
    for (const [name, days] of Object.entries(ages)) service.plane.addKeyOfAge(name, days * 86_400_000);

    const job = await run(...place);

    expect(job.conclusion).toBe(found.length > 0 ? 'failed' : 'succeeded');
    expect(job.steps['list-keys']?.errors).toEqual(
      found.map((name) => expect.stringMatching(`^Found 1 key: \\d+ \\(${name}\\)`)),
    );
  });
}

example(
  'behind-a-proxy.yml',
  'wait',
  'reaches the API through a proxy and with its own certificate authority',
  async (place, context) => {
    const { service, run, startUntil, story } = await setWorkflowStage(context, { tls: good });
    const proxy = await startProxy(context, Number(new URL(service.baseUrl).port));
    startUntil({ endpoint: 'list-operations', n: 2 });

    const job = await run(...place, {
      vars: {
        CTL_BASE_URL: 'https://control.test/v2',
        PROXY_URL: `http://127.0.0.1:${proxy.port}`,
        CA_FILE: authorityFile,
      },
    });

    expect(job.conclusion).toBe('succeeded');
    expect(proxy.asked[0]?.url).toBe('control.test:443');
    expect(story()).toEqual(['list-operations, key 1']);
    expect(job.steps['wait-operation']?.summary).toMatch(/^### ✅ wait-operation: 1 operation finished/);
  },
);
