import { type Bound, worldsOf } from './bounds.js';
import { type Outcome, runWorld } from './judge.js';
import type { World } from './world.js';

export interface Finding extends Outcome {
  readonly world: World;
}

/** Runs the worlds of a bound, every `share.of`-th of them, and yields each outcome. */
export async function* search(bound: Bound, share = { index: 0, of: 1 }): AsyncGenerator<Finding> {
  let index = 0;
  for (const world of worldsOf(bound)) {
    if (index++ % share.of !== share.index) continue;
    const outcome = await runWorld(world);
    yield { world, ...outcome };
    // After the n-th request fails, the step sends others than before. So each number is one fault.
    for (let nth = 1; bound.faults && nth <= outcome.requests; nth++) {
      const failing: World = { ...world, fails: { what: 'request', nth } };
      yield { world: failing, ...(await runWorld(failing)) };
    }
  }
}
