import { type Bound, worldsOf } from './bounds.js';
import { type Outcome, runWorld } from './judge.js';
import type { KeyWorld } from './world.js';

export interface Finding {
  readonly world: KeyWorld;
  readonly violation: string | undefined;
}

/** Runs the worlds of a bound, every `share.of`-th of them, and yields each outcome. */
export async function* search(bound: Bound, share = { index: 0, of: 1 }): AsyncGenerator<Finding> {
  let index = 0;
  for (const world of worldsOf(bound)) {
    if (index++ % share.of !== share.index) continue;
    const outcome = await runWorld(world);
    yield { world, violation: outcome.violation };
    for (const troubled of troublesOf(world, bound, outcome)) {
      const { violation } = await runWorld(troubled);
      yield { world: troubled, violation };
    }
  }
}

/** One fault at each request, or a kill at each message and request. After a fault others are sent, so one world has one. */
function* troublesOf(world: KeyWorld, { faults = [], kills, outages = [] }: Bound, { requests, messages }: Outcome) {
  for (const part of ['main', 'post'] as const)
    for (const what of faults)
      for (let nth = 1; nth <= requests[part]; nth++) yield { ...world, faults: [{ part, nth, what }] };
  for (const outage of outages) yield { ...world, outages: [outage] };
  if (kills !== true) return;
  for (let nth = 1; nth <= messages; nth++) yield { ...world, killedAt: { what: 'message' as const, nth } };
  for (let nth = 1; nth <= requests.main; nth++) yield { ...world, killedAt: { what: 'request' as const, nth } };
}
