import { afterAll, describe, expect, it } from 'vitest';
import { Job } from '../runner/job.js';
import { type Bound, operations, outagesOf, small } from '../simulation/bounds.js';
import { violationsOf } from '../simulation/judges/index.js';
import type { Part } from '../simulation/record.js';
import { search } from '../simulation/search.js';
import { play, simulate } from '../simulation/simulate.js';
import { traceOf } from '../simulation/trace.js';
import { revocationOf } from '../simulation/truth.js';
import {
  type KeyWorld,
  plainKey,
  plainWait,
  sceneOf,
  type WaitWorld,
  type World,
  type WorldOperation,
} from '../simulation/worlds.js';

const job = new Job();
afterAll(() => job.dispose());

it('a simulation with the same seed gives the same run and violates no invariant', async () => {
  const seeds = Array.from({ length: 12 }, (_, index) => 7_000 + index);
  const traces = new Map<number, string>();
  for (const seed of seeds) {
    const run = await simulate(seed, job.temp);
    const trace = traceOf(run);
    expect({ seed, violations: violationsOf(run) }).toEqual({ seed, violations: [] });
    for (const { main } of run.steps)
      for (const { n, method, path } of main.sent) expect(trace).toContain(`→ ${n} ${method} ${path}`);
    traces.set(seed, trace);
  }
  for (const seed of [...seeds].reverse()) expect(traceOf(await simulate(seed, job.temp))).toBe(traces.get(seed));
  expect(new Set(traces.values()).size).toBe(seeds.length);
});

/** In every seventh world. The nightly run searches all. */
async function violationsIn(bound: Bound): Promise<string[]> {
  const found: (readonly string[])[] = [];
  for await (const { violations } of search(bound, job.temp, { index: 0, of: 7 })) found.push(violations);
  expect(found).not.toEqual([]);
  return found.flat();
}

async function playWorld(world: World) {
  const run = await play(sceneOf(world), job.temp);
  const [step] = run.steps;
  if (step === undefined) throw new Error('The world has no step.');
  return { run, step, violations: violationsOf(run) };
}

describe('the simulation finds no defect in', () => {
  for (const [name, bound] of Object.entries(small))
    it(name, async () => {
      expect(await violationsIn(bound)).toEqual([]);
    });
});

const operation = (begins: WorldOperation['begins'], lasts: number, appearsAfter = 0) =>
  ({ begins, lasts, ends: 'finished', appearsAfter }) as const;
const failing = (...args: Parameters<typeof operation>) => ({ ...operation(...args), ends: 'failed' }) as const;
const faultOf = (part: Part, nth: number, status: number) =>
  ({ part, nth, fault: { kind: 'status', status } }) as const;
const noSecondPage = { ...faultOf('main', 1, 503), path: 'cursor=' };

/** Each has an operation that fails, and that an earlier rule of the wait missed. */
const waits: Readonly<Record<string, Partial<WaitWorld>>> = {
  'the last pending operation ends right after the list was read': {
    operations: [operation(-2, 4), operation(-1, 0), failing({ after: 0 }, 1, 4)],
    pageSize: 1,
  },
  'the second page of the list fails when new operations appear': {
    operations: [failing(1, 20), operation(2, 1)],
    pageSize: 1,
    faults: [noSecondPage],
  },
  'the list is empty at first and shows the failed operation late': {
    operations: [operation(0, 2, 3), failing({ after: 0 }, 1, 4)],
  },
  'the first read of the list fails at its second page': {
    operations: [failing(-2, 20), operation(-1, 0)],
    pageSize: 1,
    faults: [noSecondPage],
  },
};

describe('a wait with operation-id: all sees a failure although', () => {
  for (const [name, world] of Object.entries(waits))
    it(name, async () => {
      const { step, violations } = await playWorld({ ...plainWait, ...world });
      expect({ status: step.main.status, violations }).toEqual({ status: 'failed', violations: [] });
    });
});

const outage = (status: number, from: number, seconds: number, how: 'status' | 'page' = 'status') =>
  outagesOf({ how, status }, 'post', [from], [seconds]);
const lostCreate = { part: 'main', nth: 1, fault: { kind: 'cut-before-headers' } } as const;

/** Rules of an earlier post took the key of each of these worlds for a dead one, or raised a false alarm. */
const keys: Readonly<Record<string, Partial<KeyWorld>>> = {
  'post has no parent key, and an outage with 401s ends between two requests': {
    hasParent: false,
    outages: outage(401, -1, 2.6),
  },
  'post has no parent key, and an outage with 401s lasts for 8 s': { hasParent: false, outages: outage(401, 0, 8) },
  'a replica answers 404 until it knows the new key': { age: 0, lag: 8, copies: 'even', says: 'nothing' },
  'a gateway answers 404 after an outage with 401s': { outages: [...outage(401, -1, 3), ...outage(404, 2, 4)] },
  'a gateway answers with an HTML page after an outage with 401s': {
    outages: [...outage(401, -1, 3), ...outage(404, 2, 4, 'page')],
  },
  'the clock of the runner jumps, and replicas do not know the key': { age: 0, lag: 8, clocks: 'runner jumps' },
  'the clock of the service jumps, and replicas do not know the key': { age: 0, lag: 8, clocks: 'service jumps' },
  'the first create request gets a 429': { faults: [faultOf('main', 1, 429)] },
  'the DELETE gets a 502, and a gateway says 404': { faults: [faultOf('post', 1, 502), faultOf('post', 2, 404)] },
  'post has no parent key, and one replica answers 401 by mistake': { hasParent: false, outages: outage(401, 0, 0.1) },
  'a create has no response, and its key stays listed': { says: 'nothing', listsRevoked: true, faults: [lostCreate] },
  'a create has no response, and somebody else revokes its key': {
    listsRevoked: true,
    faults: [lostCreate],
    between: 'all',
  },
};

describe('every key of the step is revoked although', () => {
  for (const [name, world] of Object.entries(keys))
    it(name, async () => {
      const { step, violations } = await playWorld({ ...plainKey, ...world });
      expect(violations).toEqual([]);
      for (const key of step.keys) expect(revocationOf(key)).toBeLessThan(Number.POSITIVE_INFINITY);
    });
});

describe('the judges of the simulation find', () => {
  const late = (appearsAfter: number): Bound => ({
    worlds: { operations: operations(3, [-2, 1], [0, 4], [0, appearsAfter]) },
  });

  it('a wrong success if a list lags by 5.5 s, but none if it lags by 5 s', async () => {
    expect(await violationsIn(late(5))).toEqual([]);
    expect(await violationsIn(late(5.5))).toContainEqual(expect.stringMatching(/^waits are true: .* is idle, but/));
  });

  it('a key that still works and that no warning names', async () => {
    const { run, step, violations } = await playWorld({
      ...plainKey,
      outages: outage(502, 0, 60),
    });
    expect({ alarms: step.post?.alarms.length, violations }).toEqual({ alarms: 1, violations: [] });
    step.post?.messages.splice(0);
    expect(violationsOf(run)).toEqual([expect.stringMatching(/^no key is left: key \d+ works after the job/)]);
  });

  it('a false alarm, and the key that its message shows', async () => {
    const { run, step } = await playWorld(plainKey);
    const [{ id = '', key = '' } = {}] = step.keys;
    step.post?.messages.push({ at: 0, kind: 'warning', name: '', text: `Could not revoke key ${id}: ${key}` });
    expect(violationsOf(run)).toEqual([
      expect.stringMatching(/^alarms are due: a false alarm/),
      expect.stringMatching(/^no secret leaves: secret .* in warning/),
    ]);
  });
});
