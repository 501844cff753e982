import { expect, type TestContext, test } from 'vitest';
import { type GitHubOptions, startGitHub } from '../../control-plane/github/index.js';
import { repositoryFingerprint } from '../../src/keys/key-name.js';
import { startProxy } from '../kit/peers.js';
import { shortPauses } from '../kit/preload.js';
import { repositoryId, setProcess, warningsOf, withoutMasks } from '../kit/stage.js';
import { addOldAndYoung, expectSwept, expectUnread } from '../kit/sweep.js';
import { ownRun } from '../kit/workflow-runs.js';
import type { StepOptions } from '../runner/step.js';

const token = `ghs_${'Zq7Wm4Lk9Xs2Vb'.repeat(3)}`;

/** A sweep as a process, and a GitHub of its own that shows the current run. */
async function setGitHub(context: TestContext, options: Partial<GitHubOptions> = {}) {
  const stage = await setProcess(context);
  const github = await startGitHub({ token, repository: 'acme/shop', repositoryId, ...options });
  context.onTestFinished(() => github.close());
  github.addRun({ id: ownRun });
  const env = { GITHUB_API_URL: github.url };
  const run = (more?: StepOptions['env']) =>
    stage.sweep({}, { token, limitMs: 35_000, nodeArgs: shortPauses, env: { ...env, ...more } });
  return { ...stage, github, run };
}

test.concurrent('sweep-keys uses the API path of GitHub Enterprise and exits although a connection stays open', async (context) => {
  const { service, github, addKey, run } = await setGitHub(context, { basePath: '/api/v3' });
  github.addRun({ id: '12' });
  const fingerprint = repositoryFingerprint('https://ghe.example', repositoryId);
  const revoked = [addKey('11', { fingerprint })];
  const kept = [addKey('12', { fingerprint })];
  const result = await run({ GITHUB_SERVER_URL: 'https://ghe.example' });
  expectSwept(result, 'ok', { revoked, kept });
  expect(warningsOf(result)).toEqual([]);
  expect(result.overran).toBe(false);
  expect(result.masks).toEqual([service.apiKey, token]);
  expect(result.stdout).toMatch(/^(::add-mask::\w+\n){2}/);
  const path = (id: string) => `/api/v3/repos/acme/shop/actions/runs/${id}`;
  expect(github.requests.map((request) => request.path)).toEqual([ownRun, '11', '12'].map(path));
  expect(JSON.stringify(github.requests)).not.toContain(service.apiKey);
});

/** The control plane is on the loopback interface, so no proxy is used for it. Only the proxy knows GitHub. */
const behind = (http_proxy: string) => ({ GITHUB_API_URL: 'http://github.test', http_proxy });

test.concurrent('sweep-keys reaches GitHub through the proxy in http_proxy and sends it the user and password', async (context) => {
  const { github, addKey, run } = await setGitHub(context);
  const proxy = await startProxy(context, Number(new URL(github.url).port), { login: 'ci:hunter2@:/' });
  const revoked = [addKey('11')];
  const result = await run(behind(`http://ci:hunter2%40%3A%2F@127.0.0.1:${proxy.port}`));
  expectSwept(result, 'ok', { revoked });
  expect(warningsOf(result)).toEqual([]);
  expect(new Set(proxy.asked.map(({ url }) => url))).toEqual(new Set(['github.test:80']));
  expect(result.masks).toEqual(expect.arrayContaining(['hunter2%40%3A%2F', 'hunter2@:/']));
  expect(JSON.stringify(proxy.asked.map(({ headers }) => headers))).not.toContain(token);
  expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
});

test.concurrent('sweep-keys with an invalid proxy URL sends no request to GitHub and revokes only old keys', async (context) => {
  const { port } = await startProxy(context, 1, { isSilent: true });
  const stage = await setGitHub(context);
  const [old, young] = addOldAndYoung(stage);
  const result = await stage.run(behind(`http://ci:hunter2%zz@127.0.0.1:${port}`));
  const why = /no request was sent to GitHub, because http_proxy is not a valid URL/;
  expectUnread(result, [old], [young], why);
  expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
});
