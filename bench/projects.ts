import type { Exchange } from '../src/http/exchange.js';
import { parseFilter } from '../src/modes/list/filter.js';
import { VirtualClock } from '../test/virtual/clock.js';
import type { Figure } from './figure.js';
import { waitFor } from './waits.js';

const second = 1_000;
const minute = 60_000;
const pageSize = 100;
const idle = 30;

/** What waits for all operations cost in requests, in virtual time. */
export async function projectFigures(): Promise<Figure[]> {
  const nothing = await requestsFor(Array(100).fill([]));
  const alone = (await requestsFor([[minute]])).length;
  const among = (await requestsFor([[minute], ...Array(idle).fill([])])).length;
  const many = await requestsFor([Array(1_000).fill(minute)]);
  const polls = [...new Set(many)].map((time) => many.filter((other) => other === time).length);
  const most = Math.max(...polls);
  return [
    {
      name: 'requests of a wait for all operations of 100 idle projects',
      measured: String(nothing.length),
      mustReach: '205',
      reached: nothing.length <= 205,
      beside: 'one read of each: 100',
    },
    {
      name: `requests of a wait for one busy project, 1 min, among ${idle} idle ones`,
      measured: `${among}; ${((among - alone) / idle).toFixed(1)} for each idle one`,
      mustReach: `${alone + 3 * idle}; 3`,
      reached: among <= alone + 3 * idle,
      beside: `alone: ${alone}`,
    },
    {
      name: 'requests a poll for 1,000 unfinished operations',
      measured: `${most} at most`,
      mustReach: '15',
      reached: most <= 15,
      beside: `${polls.length} polls in a minute; one by one: 1000`,
    },
  ];
}

/** The times of all requests. For each project, the lengths of its operations, which began ten minutes before the wait. */
async function requestsFor(projects: readonly (readonly number[])[]): Promise<number[]> {
  const clock = new VirtualClock();
  const times: number[] = [];
  const createdAt = new Date(clock.epochMs() - 10 * minute).toISOString();
  const exchange: Exchange = async ({ url }) => {
    times.push(clock.now());
    const lengths = projects[Number(/\/p-(\d+)\//.exec(url.pathname)?.[1])] ?? [];
    const from = Number(url.searchParams.get('cursor'));
    const operations = lengths.slice(from, from + pageSize).map((length, n) => {
      const id = `00000000-0000-4000-8000-${String(from + n).padStart(12, '0')}`;
      return { id, status: clock.now() >= length ? 'finished' : 'running', created_at: createdAt };
    });
    const next = from + pageSize < lengths.length ? String(from + pageSize) : undefined;
    return { status: 200, headers: {}, body: JSON.stringify({ operations, pagination: { cursor: next } }) };
  };
  const projectIds = projects.map((_, n) => `p-${n}`);
  const wait = waitFor({ projectIds, target: { all: parseFilter('', []) } }, { clock, exchange, seed: 1 });
  const { verdict } = await clock.run(wait);
  if (verdict !== 'finished') throw new Error(`A wait of the bench ended ${verdict} after ${clock.now() / second} s.`);
  return times;
}
