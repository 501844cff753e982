import { type Share, searchWorlds } from '../exhaustive.js';
import { type Bound, worldsOf } from './bounds.js';
import { type Outcome, runWorld } from './judge.js';
import type { World } from './world.js';

/** Runs the worlds of a bound, or a share of them. */
export const search = (bound: Bound, share?: Share) =>
  searchWorlds(worldsOf(bound), runWorld, (world, outcome) => troublesOf(world, bound, outcome), share);

/** After the n-th request fails, the step sends others than before. So each number is one fault. */
function* troublesOf(world: World, { faults }: Bound, { requests }: Outcome): Generator<World> {
  for (let nth = 1; faults && nth <= requests; nth++) yield { ...world, fails: { what: 'request', nth } };
}
