import { expect, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { startProxy } from '../kit/peers.js';
import { hiddenUrl } from '../kit/secure-stage.js';
import { authorityFile, good } from '../kit/tls/certificates.js';
import { github } from './message.js';
import { act, observed, preloading, setStage } from './stage.js';

const [user, password] = ['proxy-user', 'proxy-password'];
const login = `${user}:${password}`;

test.concurrent("main and post use the proxy and the certificate authority from the runner's environment", async (context) => {
  const { service, run } = await setStage(context, { tls: good });
  const proxy = await startProxy(context, Number(new URL(service.baseUrl).port), { login });

  const job = await run({
    env: { CTL_BASE_URL: hiddenUrl },
    runnerEnv: {
      HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}`,
      NO_PROXY: '127.0.0.1',
      NODE_EXTRA_CA_CERTS: authorityFile,
    },
    steps: [act('mint', 'create-key')],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(proxy.asked.length).toBeGreaterThanOrEqual(2);
  expect(new Set(proxy.asked.map(({ url }) => url))).toEqual(new Set(['control.test:443']));
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
  expect(job.sent).not.toContain(password);
});

test.concurrent("the action uses no proxy for a host in the runner's no_proxy", async (context) => {
  const { service, run } = await setStage(context, { tls: good });
  const { port } = new URL(service.baseUrl);
  const proxy = await startProxy(context, Number(port));

  const job = await run({
    runnerEnv: {
      https_proxy: `http://127.0.0.1:${proxy.port}`,
      no_proxy: 'elsewhere.test,127.0.0.1,control.test',
      NODE_EXTRA_CA_CERTS: authorityFile,
    },
    env: { CTL_BASE_URL: `https://control.test:${port}/v2` },
    steps: [act('mint', 'create-key', {}, { env: preloading('control-test-is-here') })],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(proxy.asked).toEqual([]);
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('a step masks the password of a proxy that the job sets in env', async (context) => {
  const { service, run } = await setStage(context, { tls: good });
  const proxy = await startProxy(context, Number(new URL(service.baseUrl).port), { login });

  const job = await run({
    env: {
      CTL_BASE_URL: hiddenUrl,
      https_proxy: `http://${login}@127.0.0.1:${proxy.port}`,
      NODE_EXTRA_CA_CERTS: authorityFile,
    },
    steps: [
      { id: 'before', run: 'echo "It is $https_proxy."' },
      act('list', 'list-projects'),
      { id: 'after', run: 'echo "It is $https_proxy."' },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['before']?.log).toContain(`It is http://${login}@`);
  expect(job.steps['after']?.log).toContain(`It is http://${user}:***@`);
});

test.concurrent('main rejects a certificate of an unknown authority, and sends no request', async (context) => {
  const { service, run } = await setStage(context, { tls: good });

  const job = await run({
    runnerEnv: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    steps: [act('list', 'list-projects', {}, { env: preloading('quick-dice') })],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['list']?.errors).toEqual([expect.stringContaining('certificate')]);
  expect(service.requests).toEqual([]);
});

test.concurrent('the runner gives main and post the GITHUB variables that the action reads', async (context) => {
  const { service, run } = await setStage(context);
  const apiUrl = 'https://api.github.com';

  const job = await run({ apiUrl, steps: [act('mint', 'create-key', {}, { env: observed('say-names') })] });

  const names = {
    GITHUB_API_URL: apiUrl,
    GITHUB_REPOSITORY: github.repository,
    GITHUB_REPOSITORY_ID: github.repository_id,
    GITHUB_RUN_ATTEMPT: github.run_attempt,
    GITHUB_RUN_ID: github.run_id,
    GITHUB_SERVER_URL: github.server_url,
  };
  for (const step of ['mint', 'Post mint']) {
    const said = job.steps[step]?.log.match(/^GITHUB_\w+=.*$/gm) ?? [];
    expect(Object.fromEntries(said.map((line) => line.split(/=(.*)/)))).toEqual(expect.objectContaining(names));
  }
  const fingerprint = repositoryFingerprint(github.server_url, github.repository_id);
  expect(parseKeyName(service.plane.key('2')?.name ?? '')).toEqual({
    run: { id: github.run_id, attempt: 1, fingerprint },
    isKept: false,
  });
  expect(service.plane.key('2')?.name).toMatch(/^shop-run/);
});

test.concurrent('create-key refuses to run if an earlier step set NODE_DEBUG for the job', async (context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    steps: [{ id: 'earlier', run: 'echo "NODE_DEBUG=http" >> "$GITHUB_ENV"' }, act('mint', 'create-key')],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']).toMatchObject({ conclusion: 'failed', errors: [expect.stringContaining('NODE_DEBUG')] });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.requests).toEqual([]);
});

test.concurrent('a step reads its response file in the workspace, and writes its result file to RUNNER_TEMP', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 0 });
  const files = { 'out/response.json': JSON.stringify({ operations: [{ id, project_id: projectId }] }) };

  const job = await run({
    files,
    steps: [
      act('wait', 'wait-operation', { 'project-id': projectId, 'response-file': 'out/response.json' }),
      {
        id: 'show',
        run: 'cat "${{ steps.wait.outputs.result-file }}"; test "$(dirname "${{ steps.wait.outputs.result-file }}")" = "$RUNNER_TEMP"',
      },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['show']?.log).toContain(id);
});
