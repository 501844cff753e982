import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual/clock.js';
import { plays, seenOf } from './plays.js';
import { setStage } from './stage.js';

test.concurrent.for(Object.entries(plays))(
  'in virtual time, %s has the same log, outputs and requests as over sockets',
  async ([, play], context) => {
    const overSockets = await setStage(context, { overSockets: true });
    expect(await seenOf(await setStage(context), play)).toEqual(await seenOf(overSockets, play));
  },
);

test('virtual time runs calls in order, never goes back, and stops when the work ends or can never end', async () => {
  const clock = new VirtualClock();
  const called: number[] = [];
  for (const time of [30, 10, -5]) clock.schedule(time, () => called.push(clock.now()));
  await clock.run(clock.sleep(20));
  expect([called, clock.now()]).toEqual([[0, 10], 20]);
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('Nothing is left to happen');
});
