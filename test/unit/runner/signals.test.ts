import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { start } from './fixture-action.js';

const DEAF = `process.on('SIGINT', () => console.log('got SIGINT'));
  process.on('SIGTERM', () => console.log('got SIGTERM'));
  stay();
  console.log('ready');`;

test('a process that ignores all is killed, in the times of the runner', async () => {
  const step = start({ main: DEAF });
  await step.waitForLine(({ text }) => text === 'ready');
  const result = await step.cancel(0.02);
  expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', conclusion: 'cancelled', overran: false });
  const [first, second, third] = result.signals;
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT', 'SIGTERM', 'SIGKILL']);
  expect((second?.ms ?? 0) - (first?.ms ?? 0)).toBeGreaterThan(145);
  expect((third?.ms ?? 0) - (second?.ms ?? 0)).toBeGreaterThan(45);
});

test('a second cancel is the same one, and a cancel after the end changes nothing', async () => {
  const step = start({ main: "stay(); console.log('ready')" });
  await step.waitForLine('ready');
  const [one, two] = await Promise.all([step.cancel(), step.cancel()]);
  expect(one).toBe(two);
  const ended = start({ main: '' });
  await ended.done;
  expect(await ended.cancel()).toMatchObject({ conclusion: 'success', signals: [] });
});

test('a process over its limit is killed, and the result says so', async () => {
  const result = await start({ main: 'stay()' }, { limitMs: 100 }).done;
  expect(result).toMatchObject({ overran: true, signal: 'SIGKILL', conclusion: 'failure' });
  expect(result.ms).toBeGreaterThan(95);
});

test('lines can be waited for before and after they come, and not for ever', async () => {
  const step = start({ main: "console.log('one'); console.log('two')" });
  const seen: string[] = [];
  const stop = step.onLine(({ text }) => {
    seen.push(text);
    stop();
  });
  expect(await step.waitForLine('two')).toMatchObject({ stream: 'stdout', text: 'two' });
  expect(await step.waitForLine('one')).toMatchObject({ text: 'one' });
  await expect(step.waitForLine('three')).rejects.toThrow(/without a line that fits three; it said:\none\ntwo/);
  await step.done;
  await expect(step.waitForLine(/four/)).rejects.toThrow(/four/);
  expect(seen).toEqual(['one']);
});

test('disposing of a step removes its folders', async () => {
  const result = await start({ main: '' }).done;
  expect(existsSync(result.tempDir)).toBe(true);
  result.dispose();
  expect(existsSync(result.tempDir)).toBe(false);
});
