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

it('a simulated run depends only on its seed and violates no invariant', async () => {
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

describe('no small world has a violation:', () => {
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
  'the last operation is asked for singly, and ends after the read of that poll': {
    operations: [operation(-2, 4), operation(-1, 0), failing({ after: 0 }, 1, 4)],
    pageSize: 1,
  },
  'two operations appear, and the read of the second page fails': {
    operations: [failing(1, 20), operation(2, 1)],
    pageSize: 1,
    faults: [noSecondPage],
  },
  'an empty list then shows an ended operation, whose follow-up is not listed yet': {
    operations: [operation(0, 2, 3), failing({ after: 0 }, 1, 4)],
  },
  'the first read shows its first page, and fails at its second': {
    operations: [failing(-2, 20), operation(-1, 0)],
    pageSize: 1,
    faults: [noSecondPage],
  },
};

describe('a wait for all sees a failure although', () => {
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
  'an outage answers 401 to all, and ends between two questions, without a parent key': {
    hasParent: false,
    outages: outage(401, -1, 2.6),
  },
  'an outage answers 401 to all for 8 s, without a parent key': { hasParent: false, outages: outage(401, 0, 8) },
  'a young key gets a 404 and nothing else until it is old': { age: 0, lag: 8, copies: 'even', says: 'nothing' },
  'a gateway answers 404 after an outage of 401': { outages: [...outage(401, -1, 3), ...outage(404, 2, 4)] },
  'a gateway answers with a page after an outage of 401': {
    outages: [...outage(401, -1, 3), ...outage(404, 2, 4, 'page')],
  },
  'the clock of the runner jumps ahead, and copies do not know the key': { age: 0, lag: 8, clocks: 'runner jumps' },
  'the clock of the service jumps ahead, and copies do not know the key': { age: 0, lag: 8, clocks: 'service jumps' },
  'a create that was refused is not lost': { faults: [faultOf('main', 1, 429)] },
  'a 502 to the DELETE, and then a 404 of a gateway': { faults: [faultOf('post', 1, 502), faultOf('post', 2, 404)] },
  'one 401 of a confused copy, without a parent key': { hasParent: false, outages: outage(401, 0, 0.1) },
  'a stray key stays listed with revoked: true': { says: 'nothing', listsRevoked: true, faults: [lostCreate] },
  'a stray key that another revoked is listed with revoked: true': {
    listsRevoked: true,
    faults: [lostCreate],
    between: 'all',
  },
};

describe('post ends each key, or names it, although', () => {
  for (const [name, world] of Object.entries(keys))
    it(name, async () => {
      const { step, violations } = await playWorld({ ...plainKey, ...world });
      expect(violations).toEqual([]);
      for (const key of step.keys) expect(revocationOf(key)).toBeLessThan(Number.POSITIVE_INFINITY);
    });
});

describe('the judges see', () => {
  const late = (appearsAfter: number): Bound => ({
    worlds: { operations: operations(3, [-2, 1], [0, 4], [0, appearsAfter]) },
  });

  it('a wrong success if a list lags by 5.5 s, and none if it lags by 5 s', async () => {
    expect(await violationsIn(late(5))).toEqual([]);
    expect(await violationsIn(late(5.5))).toContainEqual(expect.stringMatching(/^waits are true: .* is idle, but/));
  });

  it('a key that lives if post does not name it', async () => {
    const { run, step, violations } = await playWorld({
      ...plainKey,
      outages: outage(502, 0, 60),
    });
    expect({ alarms: step.post?.alarms.length, violations }).toEqual({ alarms: 1, violations: [] });
    step.post?.messages.splice(0);
    expect(violationsOf(run)).toEqual([expect.stringMatching(/^no key is left: key \d+ works after the job/)]);
  });

  it('a false alarm, and a key that it shows', async () => {
    const { run, step } = await playWorld(plainKey);
    const [{ id = '', key = '' } = {}] = step.keys;
    step.post?.messages.push({ at: 0, kind: 'warning', name: '', text: `Could not revoke key ${id}: ${key}` });
    expect(violationsOf(run)).toEqual([
      expect.stringMatching(/^alarms are due: a false alarm/),
      expect.stringMatching(/^no secret leaves: secret .* in warning/),
    ]);
  });
});
