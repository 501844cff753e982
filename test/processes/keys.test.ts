import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { onCreate, onDelete } from '../kit/fault.js';
import { needs } from '../kit/host.js';
import { type FinishedJob, type JobPlan, noLeftovers, runJob } from '../kit/key-stage.js';
import { withDefect } from '../kit/preload.js';
import { errorOf, setProcess, warningsOf } from '../kit/stage.js';

const run = (context: TestContext, plan: JobPlan) => runJob(context, { overSockets: true, ...plan });

function expectRevoked({ post, left, made }: FinishedJob): void {
  expect(made().length).toBeGreaterThan(0);
  expect(left).toEqual(noLeftovers);
  expect(post.annotations).toEqual([]);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, signal: null, overran: false });
}

test.concurrent('create-key and post show the parent key in no file, and no key in their logs', async (context) => {
  const secret = 'Yv5/Rk+1"Nc&8%Ew<4\\Ub~Gs{9}Lf?2=Ma^7#Tz\'Ox`Di';
  // The plane makes plain secrets, so this key is in a response of the test, and added after it.
  const body = `{"id":9007199244741002,"key":${JSON.stringify(secret)}}`;
  const job = await run(context, {
    inMain: [onCreate({ kind: 'status', status: 201, body })],
    beforePost: ({ service }, main) => service.plane.addKey(main.outputs['key-name'] ?? '', secret),
  });
  expect(job.main.outputs['key-id']).toBe(job.made()[0]?.id);
  expect(job.main.outputs['key']).toBe(secret);
  expect(job.main.log + job.post.log).not.toContain(secret);
  // Post masks the minted key and the parent key before it prints anything.
  expect(job.post.stdout).toMatch(/^(::add-mask::.*\n){2}/);
  expectRevoked(job);
});

// Ctrl+C reaches a process twice: from the terminal, and from the runner that it stops.
test.concurrent('post revokes the key although two SIGINTs and a SIGTERM arrive while its DELETE hangs', async (context) => {
  needs(context, 'signals');
  const job = await run(context, {
    inPost: [onDelete({ kind: 'hang-before-headers', done: 'never' })],
    duringPost: async (post, { service }) => {
      await post.reach(service.arrived({ endpoint: 'revoke-key' }));
      post.kill('SIGINT');
      await post.reach(service.arrived({ endpoint: 'revoke-key', n: 2 }));
      post.kill('SIGINT');
      post.kill('SIGTERM');
    },
  });
  expectRevoked(job);
});

test.concurrent.for([
  ['warn', 'two timers throw', /defect in a timer/],
  ['fail', 'the event loop runs empty', /nothing left to run/],
] as const)('post obeys on-revoke-failure: %s if %s in post', async ([onFailure, defect, said], context) => {
  const job = await run(context, { inputs: { 'on-revoke-failure': onFailure }, post: withDefect(defect) });
  const { 'key-id': id, 'key-name': name } = job.main.outputs;
  const messages = onFailure === 'warn' ? warningsOf(job.post) : [errorOf(job.post)];
  expect(messages).toEqual([expect.stringMatching(said)]);
  expect(messages[0]).toContain(`key ${id} (${name})`);
  expect(job.post.exitCode).toBe(onFailure === 'warn' ? 0 : 1);
  expect(job.left.secretsShown).toEqual([]);
});

test.concurrent('post loads only its entry file if the step made no key', async (context) => {
  const { service, folder, runMode, runPost } = await setProcess(context);
  const main = await runMode('create-key', { timeout: 'soon' });
  const [fixture, record] = [join(folder, 'loads.cjs'), join(folder, 'loaded')];
  const loaded = '{ files: Object.keys(require.cache), modules: process.moduleLoadList }';
  const write = `require('node:fs').writeFileSync(process.env.LOADED, JSON.stringify(${loaded}))`;
  writeFileSync(fixture, `process.on('exit', () => ${write});`);
  const post = await runPost(main, { nodeArgs: ['--require', fixture], env: { LOADED: record } });
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '', state: {} });
  expect(service.requests).toEqual([]);
  const { files, modules } = JSON.parse(readFileSync(record, 'utf8')) as { files: string[]; modules: string[] };
  expect(files.map((file) => basename(file)).sort()).toEqual(['index.js', 'loads.cjs', 'ten-seconds-later.cjs']);
  expect(modules.filter((name) => /^NativeModule (http|https|net|tls|crypto)$/.test(name))).toEqual([]);
});

test.concurrent('post fails if a file of its bundle is missing', async (context) => {
  const { folder, runMode, runPost } = await setProcess(context);
  cpSync('action.yml', join(folder, 'action.yml'));
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  rmSync(join(folder, 'dist', 'post', 'revoke-in-post.js'));
  const post = await runPost(await runMode('create-key'), { actionYml: join(folder, 'action.yml') });
  expect(post).toMatchObject({ conclusion: 'failure', exitCode: 1 });
});
