import { seededRandom } from '../control-plane/random.js';
import { ControlApi } from '../src/api/control-api.js';
import type { Exchange } from '../src/http/exchange.js';
import { parseFilter } from '../src/modes/list/filter.js';
import type { WaitSettings } from '../src/modes/wait-operation/settings.js';
import { waitOperation } from '../src/modes/wait-operation/wait-operation.js';
import { Cancellation, Deadline } from '../src/time/deadline.js';
import { VirtualClock } from '../test/virtual/clock.js';
import { silent } from '../test/virtual/silent.js';
import type { Figure } from './figure.js';
import { type Bucket, Service } from './service.js';
import { median, quantile } from './statistics.js';

const second = 1_000;
const minute = 60_000;
const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'key-of-the-bench', requestTimeout: 30 * second };

/** Runs the real wait against a service in memory, in virtual time. */
export async function waitFigures(seeds: number, crowds: number): Promise<Figure[]> {
  return [
    await lag(seeds),
    await requestsOfAMinute(seeds),
    await peakOfWaiters(crowds),
    await requestsOfALook(),
    await hundredProjects(),
    await crowd('all at once', 0, crowds),
    await crowd('spread over 10 s', 10 * second, crowds),
    await lone(),
    await speed(seeds * 5),
  ];
}

interface Begun {
  readonly clock: VirtualClock;
  readonly exchange: Exchange;
  readonly seed: number;
  readonly pollInterval?: number | 'auto';
}

function wait({ ids, ...begun }: Begun & { readonly ids: readonly string[] }) {
  return waitFor({ projectIds: ['p'], target: { ids } }, begun);
}

export function waitFor(
  what: Pick<WaitSettings, 'projectIds' | 'target'>,
  { clock, exchange, seed, pollInterval = 'auto' }: Begun,
) {
  return waitOperation(
    { ...what, failOnEmpty: false, pollInterval, failFast: true, pollsOnce: false },
    {
      api: new ControlApi({ ...access, exchange, log: silent }),
      deadline: new Deadline(clock, 24 * 60 * minute, new Cancellation()),
      log: silent,
      random: seededRandom(seed),
    },
  );
}

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Waits for one operation. Returns the lag in milliseconds after its end, and the number of requests. */
async function one(length: number, seed: number, pollInterval: number | 'auto' = 'auto', refuseNth?: number) {
  const clock = new VirtualClock();
  const service = new Service(clock, new Map([[id(1), length]]));
  service.refuseNth = refuseNth;
  const { verdict } = await clock.run(wait({ clock, exchange: service.exchange, ids: [id(1)], seed, pollInterval }));
  if (verdict !== 'finished') throw new Error(`A wait of the bench ended ${verdict}.`);
  return { lag: clock.now() - length, requests: service.requests };
}

async function lag(seeds: number): Promise<Figure> {
  const random = seededRandom(1);
  const lengths = Array.from({ length: seeds }, () => 200 * ((30 * minute) / 200) ** random());
  let worst = 0;
  const lags: number[] = [];
  for (const [seed, length] of lengths.entries()) {
    const { lag } = await one(length, seed);
    lags.push(lag);
    worst = Math.max(worst, lag / Math.min(5 * second, Math.max(500, length / 4)));
  }
  const fixed = [1, 5, 10].map(async (seconds) => {
    const others = await Promise.all(
      lengths.slice(0, 200).map(async (length, seed) => (await one(length, seed, seconds * second)).lag),
    );
    return `fixed ${seconds} s: ${(median(others) / second).toFixed(1)} s`;
  });
  return {
    name: `lag after the end, operations of 0.2 s to 30 min, ${seeds} seeds, as a share of the larger of 0.5 s and a quarter of the length, and of 5 s`,
    measured: `${worst.toFixed(2)} at worst; median ${(median(lags) / second).toFixed(2)} s`,
    mustReach: '1',
    reached: worst <= 1,
    beside: `medians of ${(await Promise.all(fixed)).join(', ')}`,
  };
}

async function requestsOfAMinute(seeds: number): Promise<Figure> {
  const counts: number[] = [];
  for (let seed = 0; seed < seeds; seed++) counts.push((await one(minute, seed)).requests);
  const most = Math.max(...counts);
  return {
    name: `requests for a wait of 60 s, ${seeds} seeds`,
    measured: `${most} at most; median ${median(counts)}`,
    mustReach: '31',
    reached: most <= 31,
    beside: '60 at 1 s, 12 at 5 s',
  };
}

/** The most requests within any 100 ms of the second half-minute, from waiters that started at the same moment. */
async function peakOfWaiters(seeds: number): Promise<Figure> {
  const count = 100;
  const span = 100;
  let peak = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const clock = new VirtualClock();
    const ids = Array.from({ length: count }, (_, n) => id(n));
    const service = new Service(clock, new Map(ids.map((one) => [one, minute])));
    const times: number[] = [];
    const exchange: Exchange = (request, onCancel) => {
      if (clock.now() >= minute / 2 && clock.now() < minute) times.push(clock.now());
      return service.exchange(request, onCancel);
    };
    const waits = ids.map((one, n) => wait({ clock, exchange, ids: [one], seed: seed * count + n }));
    await clock.run(Promise.all(waits));
    for (const time of times) peak = Math.max(peak, times.filter((at) => at >= time && at < time + span).length);
  }
  return {
    name: `${count} waiters that start together, ${seeds} seeds: share of them that poll within ${span} ms in the second half-minute`,
    measured: `${((100 * peak) / count).toFixed(0)} % at most`,
    mustReach: '20 %',
    reached: peak <= 0.2 * count,
    beside: 'fixed 5 s: 100 %; evenly spread: 3 %',
  };
}

async function requestsOfALook(): Promise<Figure> {
  const clock = new VirtualClock();
  const ids = Array.from({ length: 100 }, (_, n) => id(n));
  const service = new Service(clock, new Map(ids.map((one) => [one, 0])));
  await clock.run(wait({ clock, exchange: service.exchange, ids, seed: 1 }));
  return {
    name: 'requests a look at 100 operations that the newest pages show',
    measured: String(service.requests),
    mustReach: '2',
    reached: service.requests <= 2,
    beside: '100 one by one',
  };
}

const projects = 100;
const response = 150;
const maxAtOnce = 12;

/** A wait for all operations of 100 projects. Each response takes 150 ms. */
async function hundredProjects(): Promise<Figure> {
  const clock = new VirtualClock();
  const length = 20 * second;
  const service = new Service(clock, new Map([[id(1), length]]));
  let open = 0;
  let atOnce = 0;
  const exchange: Exchange = async (request, onCancel) => {
    atOnce = Math.max(atOnce, ++open);
    await new Promise<void>((resolve) => clock.schedule(clock.now() + response, resolve));
    open--;
    return service.exchange(request, onCancel);
  };
  const projectIds = Array.from({ length: projects }, (_, n) => `p-${n}`);
  const target = { all: parseFilter('', []) };
  const pollInterval = 5 * second;
  const { elapsed } = await clock.run(waitFor({ projectIds, target }, { clock, exchange, seed: 1, pollInterval }));
  // A poll begins one interval after the end of the last one, and sends at most 12 requests at once.
  const aPoll = Math.ceil(projects / maxAtOnce) * response;
  const polls = Math.ceil(length / (pollInterval + aPoll)) + 1;
  const bound = length + pollInterval + 2 * aPoll;
  return {
    name: 'a wait for all operations of 100 projects, responses after 150 ms, poll-interval 5s, operations of 20 s',
    measured: `${atOnce} requests at once, ${(service.requests / polls).toFixed(0)} a poll, told ${((elapsed - length) / second).toFixed(1)} s after the end`,
    mustReach: `${maxAtOnce}, ${projects}, ${((bound - length) / second).toFixed(1)} s`,
    reached: atOnce <= maxAtOnce && service.requests <= projects * polls && elapsed <= bound,
    beside: `one by one a poll takes ${((projects * response) / second).toFixed(0)} s, 12 at a time ${(aPoll / second).toFixed(2)} s`,
  };
}

const waiters = 500;
const bucket: Bucket = { rate: 40, burst: 40 };

async function crowd(name: string, spread: number, seeds: number): Promise<Figure> {
  const halves: number[] = [];
  const nineteens: number[] = [];
  const slowest: number[] = [];
  const refused: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const result = await oneCrowd(spread, seed);
    halves.push(median(result.lags));
    nineteens.push(quantile(result.lags, 0.95));
    slowest.push(Math.max(...result.lags));
    refused.push(result.refused);
  }
  const [half, nineteen, all, share] = [halves, nineteens, slowest, refused].map((values) => Math.max(...values)) as [
    number,
    number,
    number,
    number,
  ];
  const s = (ms: number) => `${(ms / second).toFixed(1)} s`;
  return {
    name: `${waiters} waiters (${name}), ${seeds} seeds, 40 requests/s, 429 without Retry-After: told of the end, at worst of all seeds`,
    measured: `half in ${s(half)}, 95 % in ${s(nineteen)}, all in ${s(all)}; ${(100 * share).toFixed(1)} % refused`,
    mustReach: '6 s, 30 s, 90 s; 25 %',
    reached: half <= 6 * second && nineteen <= 30 * second && all <= 90 * second && share < 0.25,
    beside: 'fixed 5 s: 79 % refused, the slowest 150 s',
  };
}

async function oneCrowd(spread: number, seed: number) {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const begins = Array.from({ length: waiters }, () => spread * random());
  const ends = new Map(begins.map((begin, n) => [id(n), begin + 4 * minute * random()]));
  const service = new Service(clock, ends, bucket);
  const lags = begins.map(
    (begin, n) =>
      new Promise<number>((resolve, reject) => {
        clock.schedule(begin, () => {
          wait({ clock, exchange: service.exchange, ids: [id(n)], seed: seed * waiters + n }).then(({ verdict }) => {
            if (verdict === 'finished') resolve(clock.now() - (ends.get(id(n)) ?? 0));
            else reject(new Error(`A waiter of the crowd ended ${verdict}.`));
          }, reject);
        });
      }),
  );
  return { lags: await clock.run(Promise.all(lags)), refused: service.refused / service.requests };
}

/** Each wait gets one 429, each time at a different poll. Measures the largest lag after the end of the operation. */
async function lone(): Promise<Figure> {
  let worst = 0;
  for (const length of [1, 5, 20, 60, 300, 1_800].map((seconds) => seconds * second)) {
    const { requests } = await one(length, 1);
    for (let nth = 1; nth <= requests; nth += Math.ceil(requests / 40))
      worst = Math.max(worst, (await one(length, 1, 'auto', nth)).lag);
    for (const nth of [requests - 1, requests]) worst = Math.max(worst, (await one(length, 1, 'auto', nth)).lag);
  }
  return {
    name: 'a lone waiter that is refused once, at any look of a wait of 1 s to 30 min, is told',
    measured: `within ${(worst / second).toFixed(2)} s`,
    mustReach: '10 s',
    reached: worst <= 10 * second,
  };
}

async function speed(waits: number): Promise<Figure> {
  const began = process.cpuUsage();
  for (let seed = 0; seed < waits; seed += 100)
    await Promise.all(Array.from({ length: 100 }, (_, n) => one(minute, seed + n)));
  const { user, system } = process.cpuUsage(began);
  const aSecond = waits / ((user + system) / 1_000_000);
  return {
    name: 'waits of one minute simulated in a second of one core',
    measured: aSecond.toFixed(0),
    mustReach: '2000',
    reached: aSecond >= 2_000,
  };
}
