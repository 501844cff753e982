import type { Limit } from '../control-plane/index.js';
import { parseFilter } from '../src/modes/list/filter.js';
import type { Figure } from './figure.js';
import { Service } from './service.js';
import { median } from './statistics.js';

const second = 1_000;
const trip = 100;
const target = { all: parseFilter('', []), since: 60_000 };
/** Without `Retry-After`, and with it in seconds. */
const retryAfters = [undefined, 1, 60];

interface Row {
  readonly limiter: Limit;
  readonly projects: number;
  /** The last project is done after so many seconds at most, with a `Retry-After` below 60 s and with 60 s. */
  readonly goal: readonly [number, number];
}

// The client lets 8 requests pass at once, and then 9.5 a second, until it gets a 429.
const rows: readonly Row[] = [
  { limiter: { perSecond: 10, bucket: 10 }, projects: 1, goal: [5.5, 5.5] },
  { limiter: { perSecond: 10, bucket: 10 }, projects: 30, goal: [7.9, 7.9] },
  { limiter: { perSecond: 10, bucket: 10 }, projects: 100, goal: [23.6, 104] },
  { limiter: { perSecond: 11.7, bucket: 40 }, projects: 100, goal: [21, 21] },
  { limiter: { perSecond: 40, bucket: 40 }, projects: 100, goal: [21, 21] },
  // What another client with one request a second leaves of 10 a second.
  { limiter: { perSecond: 9, bucket: 10 }, projects: 100, goal: [34, 108] },
];

/** Each process waits for one project. Two holds of 60 s last 150 s at most. */
const crowds: readonly Row[] = [
  { limiter: { perSecond: 12, bucket: 12 }, projects: 60, goal: [15, 81] },
  { limiter: { perSecond: 12, bucket: 3 }, projects: 60, goal: [19, 156] },
];

/** Waits for all operations of idle projects behind a limiter. */
export async function projectFigures(seeds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const row of rows) {
    const name = row.projects === 1 ? '1 idle project' : `${row.projects} idle projects`;
    figures.push(await figureOf(name, row, seeds, (service, projectIds) => service.wait({ projectIds, target })));
  }
  for (const row of crowds) {
    const waitAll = async (service: Service, projectIds: readonly string[]) =>
      Math.max(...(await Promise.all(projectIds.map((id) => service.wait({ projectIds: [id], target })))));
    figures.push(await figureOf(`${row.projects} processes of one idle project`, row, seeds, waitAll));
  }
  return figures;
}

async function figureOf(
  name: string,
  { limiter, projects, goal }: Row,
  seeds: number,
  wait: (service: Service, projectIds: string[]) => Promise<number>,
): Promise<Figure> {
  const projectIds = Array.from({ length: projects }, (_, n) => `p-${n}`);
  const ideal = idealFor(projects, limiter);
  const measured: string[] = [];
  let isReached = true;
  for (const retryAfter of retryAfters) {
    const times: number[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const service = new Service({ seed, trip, limiter: { ...limiter, retryAfter } });
      times.push((await service.clock.run(wait(service, projectIds))) / second);
    }
    const [middle, worst] = [median(times), Math.max(...times)];
    isReached &&= worst <= goal[retryAfter === 60 ? 1 : 0];
    const ratios = `${(middle / ideal).toFixed(2)}, ${(worst / ideal).toFixed(2)}`;
    measured.push(`${retryAfter ?? 'none'}: ${middle.toFixed(1)}, ${worst.toFixed(1)} s (${ratios})`);
  }
  return {
    name: `${name}, limiter ${limiter.perSecond}/${limiter.bucket}, by \`Retry-After\`: median and worst of ${seeds} seeds (of ideal)`,
    measured: measured.join('; '),
    mustReach: `${goal[0]} s; with 60: ${goal[1]} s`,
    reached: isReached,
    beside: `ideal: ${ideal.toFixed(1)} s`,
  };
}

/** The time in seconds that two reads of each project need, the second 5 s or more after the first. */
function idealFor(projects: number, { perSecond, bucket }: Limit): number {
  const response = (2 * trip) / second;
  const sentAt = (count: number) => Math.max(0, (count - bucket) / perSecond);
  return Math.max(sentAt(2 * projects) + response, sentAt(projects) + 5 + 2 * response);
}
