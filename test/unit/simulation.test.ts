import { afterAll, describe, expect, it } from 'vitest';
import { Job } from '../runner/job.js';
import { type Bound, operations, outagesOf, small } from '../simulation/bounds.js';
import { violationsOf } from '../simulation/judges/index.js';
import { search } from '../simulation/search.js';
import { play, simulate } from '../simulation/simulate.js';
import { traceOf } from '../simulation/trace.js';
import { revocationOf } from '../simulation/truth.js';
import { type KeyWorld, plainKey, plainWait, sceneOf, type WaitWorld, type World } from '../simulation/worlds.js';

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
  const found: string[] = [];
  for await (const { violations } of search(bound, job.temp, { index: 0, of: 7 })) found.push(...violations);
  return found;
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

/** Each has an operation that fails, and that an earlier rule of the wait missed. */
const waits: Readonly<Record<string, Partial<WaitWorld>>> = {
  'the last operation is asked for singly, and ends after the read of that poll': {
    operations: [
      { begins: -2, lasts: 4, ends: 'finished', appearsAfter: 0 },
      { begins: -1, lasts: 0, ends: 'finished', appearsAfter: 0 },
      { begins: { after: 0 }, lasts: 1, ends: 'failed', appearsAfter: 4 },
    ],
    pageSize: 1,
  },
  'two operations appear, and the read of the second page fails': {
    operations: [
      { begins: 1, lasts: 20, ends: 'failed', appearsAfter: 0 },
      { begins: 2, lasts: 1, ends: 'finished', appearsAfter: 0 },
    ],
    pageSize: 1,
    faults: [{ part: 'main', path: 'cursor=', nth: 1, fault: { kind: 'status', status: 503 } }],
  },
  'an empty list then shows an ended operation, whose follow-up is not listed yet': {
    operations: [
      { begins: 0, lasts: 2, ends: 'finished', appearsAfter: 3 },
      { begins: { after: 0 }, lasts: 1, ends: 'failed', appearsAfter: 4 },
    ],
  },
  'the first read shows its first page, and fails at its second': {
    operations: [
      { begins: -2, lasts: 20, ends: 'failed', appearsAfter: 0 },
      { begins: -1, lasts: 0, ends: 'finished', appearsAfter: 0 },
    ],
    pageSize: 1,
    faults: [{ part: 'main', path: 'cursor=', nth: 1, fault: { kind: 'status', status: 503 } }],
  },
};

describe('a wait for all sees a failure although', () => {
  for (const [name, world] of Object.entries(waits))
    it(name, async () => {
      const { step, violations } = await playWorld({ ...plainWait, ...world });
      expect({ status: step.main.status, violations }).toEqual({ status: 'failed', violations: [] });
    });
});

const rejects = { how: 'status', status: 401 } as const;
const early401 = outagesOf(rejects, 'post', [-1], [3]);
const lostCreate = { part: 'main', nth: 1, fault: { kind: 'cut-before-headers' } } as const;

/** Rules of an earlier post took the key of each of these worlds for a dead one, or raised a false alarm. */
const keys: Readonly<Record<string, Partial<KeyWorld>>> = {
  'an outage answers 401 to all, and ends between two questions, without a parent key': {
    hasParent: false,
    outages: outagesOf(rejects, 'post', [-1], [2.6]),
  },
  'an outage answers 401 to all for 8 s, without a parent key': {
    hasParent: false,
    outages: outagesOf(rejects, 'post', [0], [8]),
  },
  'a young key gets a 404 and nothing else until it is old': { age: 0, lag: 8, copies: 'even', says: 'nothing' },
  'a gateway answers 404 after an outage of 401': {
    outages: [...early401, ...outagesOf({ how: 'status', status: 404 }, 'post', [2], [4])],
  },
  'a gateway answers with a page after an outage of 401': {
    outages: [...early401, ...outagesOf({ how: 'page', status: 404 }, 'post', [2], [4])],
  },
  'a create that was refused is not lost': {
    faults: [{ part: 'main', nth: 1, fault: { kind: 'status', status: 429 } }],
  },
  'a 502 to the DELETE, and then a 404 of a gateway': {
    faults: [
      { part: 'post', nth: 1, fault: { kind: 'status', status: 502 } },
      { part: 'post', nth: 2, fault: { kind: 'status', status: 404 } },
    ],
  },
  'one 401 of a confused copy, without a parent key': {
    hasParent: false,
    outages: outagesOf(rejects, 'post', [0], [0.1]),
  },
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
    plain: plainWait,
    worlds: { operations: operations(3, [-2, 1], [0, 4], [0, appearsAfter]) },
  });

  it('a wrong success if a list lags by 5.5 s, and none if it lags by 5 s', async () => {
    expect(await violationsIn(late(5))).toEqual([]);
    expect(await violationsIn(late(5.5))).toContainEqual(expect.stringMatching(/^waits are true: .* is idle, but/));
  });

  it('a key that lives if post does not name it', async () => {
    const { run, step, violations } = await playWorld({
      ...plainKey,
      outages: outagesOf({ how: 'silent', status: 0 }, 'post', [0], [60]),
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
