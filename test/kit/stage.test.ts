import { expect, test } from 'vitest';
import { plays, seenOf } from './plays.js';
import { setStage } from './stage.js';

test.concurrent.for(Object.entries(plays))(
  'in virtual time, %s has the same log, outputs and requests as over sockets',
  async ([, play], context) => {
    const overSockets = await setStage(context, { overSockets: true });
    expect(await seenOf(await setStage(context), play)).toEqual(await seenOf(overSockets, play));
  },
);

test('a step in virtual time dates its lines, its signals and its end by that time', async (context) => {
  const stage = await setStage(context);
  const step = stage.start({ 'operation-id': stage.operation({ lengthMs: Number.POSITIVE_INFINITY }).id });
  stage.after(12_345, () => step.kill('SIGTERM'));
  const { lines, signals, ms } = await step.done;
  expect(lines[0]?.ms).toBe(0);
  expect([lines.at(-1)?.ms, signals, ms]).toEqual([12_345, [{ signal: 'SIGTERM', ms: 12_345 }], 12_345]);
});
