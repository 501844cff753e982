import { autoPause } from '../test/simulation/truth.js';
import type { Figure } from './figure.js';
import { idOf, Service } from './service.js';
import { median } from './statistics.js';

const second = 1_000;
const trip = 100;

/** Waits for given ids. `phases`: how many ends in small steps. */
export async function waitFigures(phases: number): Promise<Figure[]> {
  const ids = (count: number) => Array.from({ length: count }, (_, n) => n);
  const deep = [...ids(70), ...Array.from({ length: 30 }, (_, n) => 1_500 + n)];
  const figures: Figure[] = [];
  for (const end of [3, 10, 25, 60, 300]) figures.push(await lagFigure(end, phases));
  return [
    ...figures,
    await manyIds('100 given ids', ids(100), { aPoll: 1, lag: 4 }, phases),
    await manyIds('1,000 given ids', ids(1_000), { aPoll: 10, lag: 6 }, phases),
    await manyIds('100 given ids, 30 of them beyond 1,500 others', deep, { aPoll: 41, lag: 8 }, phases),
  ];
}

/** Ends around a time, spread over the pause between two polls there. */
function endsAround(end: number, phases: number): number[] {
  const span = promisedLag(end);
  return Array.from({ length: phases }, (_, n) => end + span * ((n + 0.5) / phases - 0.5));
}

const promisedLag = (end: number) => autoPause(end * second) / second;

/** Waits for operations, by their places in the list. All end at the same time, in seconds. */
async function waitForEnd(end: number, places: readonly number[], travels: number) {
  const ends = Array<number>(Math.max(...places) + 1).fill(end * second);
  const service = new Service({ ends, trip: travels });
  const endedAt = await service.clock.run(
    service.wait({ projectIds: ['p'], target: { ids: new Map([['p', places.map(idOf)]]) } }),
  );
  return { lag: endedAt / second - end, service };
}

async function lagFigure(end: number, phases: number): Promise<Figure> {
  const lags: number[] = [];
  const slowLags: number[] = [];
  let requests = 0;
  let share = 0;
  for (const at of endsAround(end, phases)) {
    const { lag, service } = await waitForEnd(at, [0], 0);
    lags.push(lag);
    requests = Math.max(requests, service.requests);
    share = Math.max(share, lag / promisedLag(at));
    slowLags.push((await waitForEnd(at, [0], trip)).lag);
  }
  return {
    name: `lag after an end at about ${end} s, ${phases} phases`,
    measured: `at worst ${Math.max(...lags).toFixed(2)} s (${share.toFixed(2)} of the limit), median ${median(lags).toFixed(2)} s; ${requests} requests`,
    mustReach: '0.5 s or 25 % of the length, at most 3.3 s',
    reached: share <= 1,
    beside: `responses after ${2 * trip} ms: at worst ${Math.max(...slowLags).toFixed(2)} s`,
  };
}

async function manyIds(
  name: string,
  places: readonly number[],
  goal: { readonly aPoll: number; readonly lag: number },
  phases: number,
): Promise<Figure> {
  const lags: number[] = [];
  let aPoll = 0;
  for (const at of endsAround(60, Math.ceil(phases / 5))) {
    const { lag, service } = await waitForEnd(at, places, trip);
    lags.push(lag);
    aPoll = Math.max(aPoll, service.requests / service.listReads);
  }
  const worst = Math.max(...lags);
  return {
    name: `${name}: requests a poll, lag after the end of all at about 60 s, responses after ${2 * trip} ms`,
    measured: `${aPoll.toFixed(1)}; at worst ${worst.toFixed(1)} s, median ${median(lags).toFixed(1)} s`,
    mustReach: `${goal.aPoll}; ${goal.lag} s`,
    reached: aPoll <= goal.aPoll && worst <= goal.lag,
    beside: `${places.length} a poll one by one`,
  };
}
