import type { Bound } from './bounds.js';
import { violationsOf } from './judges/index.js';
import type { Run } from './record.js';
import { play } from './simulate.js';
import { plainKey, plainWait, sceneOf, type Troubles, type World } from './worlds.js';

/** What a run violates, and the command that repeats it. */
export interface Finding {
  readonly violations: readonly string[];
  readonly again: string;
}

export interface Share {
  readonly index: number;
  readonly of: number;
}

/** Plays every `share.of`-th world of a bound, and then its troubles, which depend on what it sends. `temp`: as in `play`. */
export async function* search(bound: Bound, temp: string, { index, of }: Share): AsyncGenerator<Finding> {
  let left = index;
  for (const world of worldsOf(bound)) {
    if (left-- > 0) continue;
    left = of - 1;
    const run = await play(sceneOf(world), temp);
    yield findingOf(world, run);
    for (const troubles of troublesOf(bound, run)) {
      const troubled = { ...world, ...troubles };
      yield findingOf(troubled, await play(sceneOf(troubled), temp));
    }
  }
}

function findingOf(world: World, run: Run): Finding {
  return { violations: violationsOf(run), again: `npm run worlds -- --world '${JSON.stringify(world)}'` };
}

function* worldsOf({ worlds }: Bound): Generator<World> {
  // Copies that do not lag are all alike.
  for (const world of choicesOf(Object.entries(worlds), 'operations' in worlds ? plainWait : plainKey))
    if (world.lag > 0 || world.copies === 'all') yield world;
}

function* choicesOf([first, ...rest]: [string, readonly unknown[]][], world: World): Generator<World> {
  if (first === undefined) return yield world;
  const [field, values] = first;
  for (const value of values) yield* choicesOf(rest, { ...world, [field]: value });
}

/** One fault at each request, or a kill at each message and request. After a fault others are sent, so one world has one. */
function* troublesOf({ faults = [], outages = [], kills = false }: Bound, { steps }: Run): Generator<Troubles> {
  for (const { part, sent, messages } of steps.flatMap(({ processes }) => processes)) {
    for (let nth = 1; nth <= sent.length; nth++) {
      for (const fault of faults) yield { faults: [{ part, nth, fault }] };
      if (kills && part === 'main') yield { killedAt: { on: 'request', nth } };
    }
    for (let nth = 1; kills && part === 'main' && nth <= messages.length; nth++)
      yield { killedAt: { on: 'message', nth } };
  }
  for (const outage of outages) yield { outages: [outage] };
}
