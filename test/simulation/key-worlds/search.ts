import { type Share, searchWorlds } from '../exhaustive.js';
import { type Bound, worldsOf } from './bounds.js';
import { type Outcome, runWorld } from './judge.js';
import type { KeyWorld } from './world.js';

/** Runs the worlds of a bound, or a share of them. */
export const search = (bound: Bound, share?: Share) =>
  searchWorlds(worldsOf(bound), runWorld, (world, outcome) => troublesOf(world, bound, outcome), share);

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
