import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual/clock.js';
import { plays, seenOf } from './plays.js';
import { setStage } from './stage.js';

test.concurrent.for(Object.entries(plays))(
  'in virtual time, %s has the same log, outputs and requests as over sockets, and shows text only as text',
  async ([, play], context) => {
    const overSockets = await setStage(context, { overSockets: true });
    const seen = await seenOf(await setStage(context), play);
    expect(seen).toEqual(await seenOf(overSockets, play));
    expect(seen).toMatchObject({ defects: [] });
  },
);

test('virtual time makes calls in order of time, then of scheduling, and skips cancelled ones', async () => {
  const clock = new VirtualClock(1_000_000);
  const called: string[] = [];
  const note = (name: string) => () => called.push(`${name}@${clock.now()}`);
  for (const [name, time] of Object.entries({ c: 30, a: 10, d: 30, b: 20.5, past: -5 }))
    clock.schedule(time, note(name));
  for (const time of [10, 15, 30]) clock.schedule(time, note('cancelled'))();
  clock.service.schedule(25, () => called.push(`service@${clock.service.now()}`));
  const work = async () => {
    await clock.sleep(10);
    for (let step = 0; step < 50; step++) await Promise.resolve();
    note('work')();
    await clock.sleep(100);
  };
  await clock.run(work());
  expect(called).toEqual(['past@0', 'a@10', 'work@10', 'b@20.5', 'service@1000025', 'c@30', 'd@30']);
});

test('virtual time stops when its work ends, and rejects work that can never end', async () => {
  const clock = new VirtualClock();
  const called: number[] = [];
  for (const time of [50, Number.POSITIVE_INFINITY]) clock.schedule(time, () => called.push(clock.now()));
  expect(await clock.run(clock.sleep(20).then(() => 'done'))).toBe('done');
  expect([called, clock.now()]).toEqual([[], 20]);
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('Nothing is left to happen');
  expect(called).toEqual([50]);
});
