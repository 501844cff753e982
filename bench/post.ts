import { tmpdir } from 'node:os';
import { play } from '../test/simulation/simulate.js';
import { type KeyWorld, plainKey, sceneOf } from '../test/simulation/worlds.js';
import type { Figure } from './figure.js';

const lost = (done: 'now' | 'never') => ({
  faults: [{ part: 'main' as const, nth: 1, fault: { kind: 'cut-before-headers' as const, done } }],
});

/** Each job, how long its post step may take in seconds, and how many requests it may send. */
const jobs: readonly (readonly [what: string, world: Partial<KeyWorld>, seconds: number, requests: number])[] = [
  ['a key of 60 s', {}, 1, 2],
  ['a key of 2 s', { age: 2 }, 9, 2],
  ['a key of 60 s, without its parent key', { hasParent: false }, 1, 2],
  ['a key of 60 s whose parent key was revoked', { between: 'parent' }, 1, 2],
  ['a key that the job revoked', { between: 'newest' }, 1, 4],
  ['a key of 60 s, and a lost create that made another one', lost('now'), 1, 4],
  ['a key of 60 s, and a lost create that made none', lost('never'), 20, 20],
];

/** What the post step of create-key costs, in virtual time. */
export async function postFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, world, mostSeconds, mostRequests] of jobs) {
    const { steps } = await play(sceneOf({ ...plainKey, age: 60, ...world }), tmpdir());
    const { startedAt = 0, endedAt = Number.NaN, sent = [] } = steps[0]?.post ?? {};
    const seconds = (endedAt - startedAt) / 1_000;
    figures.push({
      name: `post after ${what}`,
      measured: `${seconds.toFixed(1)} s, ${sent.length} requests`,
      mustReach: `${mostSeconds} s, ${mostRequests} requests`,
      reached: seconds <= mostSeconds && sent.length <= mostRequests,
    });
  }
  return figures;
}
