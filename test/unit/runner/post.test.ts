import { expect, test } from 'vitest';
import { runPost, runStep } from '../../runner/step.js';
import { run, runPostAlone } from './fixture-action.js';

const yml = 'inputs: { key: { default: fallback } }';
const post = 'console.log(process.env.INPUT_KEY, process.env.STATE_id, process.env.EXTRA);';
const main = "file('STATE', 'id=7\\n');";

test('post can be handed other inputs and environment', async () => {
  const first = await run({ main, post, yml }, { inputs: { key: 'given' }, env: { EXTRA: 'main', OTHER: 'x' } });
  expect((await runPost(first, { inputs: {}, env: { EXTRA: 'post' } })).stdout).toBe('fallback 7 post\n');
});

test('post runs from state alone', async () => {
  const result = await runPostAlone({ main, post, yml }, { state: { id: '7' } }, {});
  expect(result.stdout).toBe('fallback 7 undefined\n');
});

test('an action without a post, or without its file, is an error of the test', async () => {
  const first = await run({ main });
  await expect(runPost(first)).rejects.toThrow(/no post/);
  await expect(runStep({ actionYml: '/nowhere/action.yml' })).rejects.toThrow(/ENOENT/);
});
