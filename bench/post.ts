import { runWorld } from '../test/simulation/key-worlds/judge.js';
import { type KeyWorld, plain } from '../test/simulation/key-worlds/world.js';
import type { Figure } from './figure.js';

const lost = (what: 'lost before' | 'lost after') => ({ faults: [{ part: 'main' as const, nth: 1, what }] });

/** Each job, how long its post step may take in seconds, and how many requests it may send. */
const jobs: readonly (readonly [what: string, world: Partial<KeyWorld>, seconds: number, requests: number])[] = [
  ['a key of 60 s', {}, 1, 2],
  ['a key of 2 s', { age: 2 }, 9, 2],
  ['a key of 60 s, without its parent key', { hasParent: false }, 1, 2],
  ['a key of 60 s whose parent key was revoked', { between: 'parent key revoked' }, 1, 2],
  ['a key that the job revoked', { between: 'minted key revoked' }, 1, 4],
  ['a key of 60 s, and a lost create that made another one', lost('lost after'), 1, 4],
  ['a key of 60 s, and a lost create that made none', lost('lost before'), 20, 20],
];

/** What the post step of create-key costs, in virtual time. */
export async function postFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, world, mostSeconds, mostRequests] of jobs) {
    const { job, requests } = await runWorld({ ...plain, age: 60, ...world });
    const seconds = ((job.post?.endedAt ?? Number.NaN) - job.beganAt) / 1_000;
    figures.push({
      name: `post after ${what}`,
      measured: `${seconds.toFixed(1)} s, ${requests.post} requests`,
      mustReach: `${mostSeconds} s, ${mostRequests} requests`,
      reached: seconds <= mostSeconds && requests.post <= mostRequests,
    });
  }
  return figures;
}
