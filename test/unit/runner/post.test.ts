import { expect, test } from 'vitest';
import { runPost, runStep } from '../../runner/step.js';
import { run, runPostAlone } from './fixture-action.js';

const yml = 'inputs: { key: { default: fallback } }';
const post = `console.log(process.env.INPUT_KEY, process.env.STATE_id, process.env.FROM_MAIN, process.env.EXTRA);
  console.log(process.env.PATH.split(':')[0]);
  file('OUTPUT', 'ignored=1\\n');
  file('STEP_SUMMARY', 'told');`;
const main = `console.log('::add-mask::hush');
  file('STATE', 'id=hush\\n');
  file('ENV', 'FROM_MAIN=set\\n');
  file('PATH', '/first\\n/second\\n');
  file('STEP_SUMMARY', 'of main');`;

test('post gets state, environment and masks of main, its inputs anew, and files of its own', async () => {
  const first = await run({ main, post, yml }, { inputs: { key: 'given' }, env: { EXTRA: 'main' } });
  const last = await runPost(first);
  expect(last.stdout).toBe('given hush set main\n/second\n');
  expect(last.log).toBe('given *** set main\n/second\n');
  expect(last).toMatchObject({ outputs: {}, summary: 'told', conclusion: 'success' });
  expect(last.files.summary).not.toBe(first.files.summary);
  expect(last.tempDir).toBe(first.tempDir);
});

test('post can be handed other inputs and environment', async () => {
  const first = await run({ main, post, yml }, { inputs: { key: 'given' }, env: { EXTRA: 'main', OTHER: 'x' } });
  expect((await runPost(first, { inputs: {}, env: { EXTRA: 'post' } })).stdout).toMatch(/^fallback hush set post\n/);
});

test('post runs from state alone', async () => {
  const result = await runPostAlone({ main, post, yml }, { state: { id: '7' } }, {});
  expect(result.stdout).toMatch(/^fallback 7 undefined undefined\n/);
});

test('a later step of the job sees its folders and environment, not the state', async () => {
  const first = await run({ main, post, yml });
  const next = await run({ main: post, yml }, { job: first.job });
  expect(next.stdout).toBe('fallback undefined set undefined\n/second\n');
  expect(next.tempDir).toBe(first.tempDir);
});

test('an action without a post, or without its file, is an error of the test', async () => {
  const first = await run({ main });
  await expect(runPost(first)).rejects.toThrow(/no post/);
  await expect(runStep({ actionYml: '/nowhere/action.yml' })).rejects.toThrow(/ENOENT/);
});
