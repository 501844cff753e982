import { type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../control-plane/index.js';
import { everyFault, everyFaultOfLists, typicalFaults, typicalFaultsOfLists, worstFaults } from './every-fault.js';
import { keyToCome, live } from './key-stage.js';
import { LeakTable } from './leak-table.js';

/** A create whose answer is lost: main looks for its key, and revokes it. */
const lostCreate: FaultRule = { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers' } };

interface Place {
  /** What goes wrong before. */
  readonly prelude: readonly FaultRule[];
  readonly at: Omit<FaultRule, 'fault'>;
  readonly faults: Readonly<Record<string, Fault>>;
}

const isWhole = process.env['KEYS_TABLE'] === 'all';

const toCome = keyToCome();
const answer = (status: number, body: string): Fault => ({ kind: 'status', status, body, done: 'now' });

/** A key was made, and the answer that holds it is of no use. */
const unusable: Readonly<Record<string, Fault>> = {
  '200, the key within another object': answer(200, `{"api_key":{"id":${toCome.id},"key":"${toCome.key}"}}`),
  '200, an id that is none': answer(200, `{"id":"${toCome.key}","key":"${toCome.key}"}`),
  '200, no key': answer(200, `{"id":${toCome.id},"secret":"${toCome.key}"}`),
  '500, with the key': answer(500, `{"id":${toCome.id},"key":"${toCome.key}","message":"not told to all"}`),
  '500, with the beginning of the key': answer(500, `{"id":${toCome.id},"key":"${toCome.key.slice(0, 40)}`),
};

/** After each of these but the first, post works for its 14 or 20 s by design. */
const places: Readonly<Record<string, Place>> = {
  'main: create': {
    prelude: [],
    at: { endpoint: 'create-key', nth: 1 },
    faults: { ...(isWhole ? everyFault : worstFaults), ...unusable },
  },
  'main: create after a lost one': {
    prelude: [lostCreate],
    at: { endpoint: 'create-key', nth: 2 },
    faults: isWhole ? everyFault : typicalFaults,
  },
  'main: list after a lost create': {
    prelude: [lostCreate],
    at: { endpoint: 'list-keys', nth: 1 },
    faults: isWhole ? everyFaultOfLists : typicalFaultsOfLists,
  },
  'main: revoke after a lost create': {
    prelude: [lostCreate],
    at: { endpoint: 'revoke-key', nth: 1 },
    faults: isWhole ? everyFault : typicalFaults,
  },
  'main: every create': {
    prelude: [],
    at: { endpoint: 'create-key' },
    faults: isWhole ? everyFault : typicalFaults,
  },
};

const table = new LeakTable('What `create-key` and its post leave where one exchange of main goes wrong');

// Those that take longest first.
for (const [exchange, place] of Object.entries(places).reverse()) {
  for (const [name, fault] of Object.entries(place.faults)) {
    test.concurrent(`${exchange}: ${name}: no key is left untold, no secret shown`, (context) =>
      meet(context, name, fault, exchange, place));
  }
}

async function meet(
  context: TestContext,
  name: string,
  fault: Fault,
  exchange: string,
  { prelude, at }: Place,
): Promise<void> {
  const { expect } = context;
  const life = await live(context, {
    inMain: [...prelude, { ...at, fault }],
    inputs: { timeout: '10s', 'request-timeout': '1s' },
  });
  const { main, post, stage, aliveBetween } = life;
  table.add(name, exchange, life);

  const met = stage.service.requests.filter((one) => one.endpoint === at.endpoint && one.fault === fault.kind);
  expect(met.length, 'times that the fault was met').toBeGreaterThan(0);
  expect({ shown: life.shown, untold: life.untold, alive: life.alive, harmed: life.harmed }).toEqual({
    shown: [],
    untold: [],
    // Main met the fault; post could do its work.
    alive: [],
    harmed: [],
  });
  expect([main.overran, post.overran]).toEqual([false, false]);
  expect(post.conclusion).toBe('success');
  // 20 s of its own; the end of the process may take a busy machine somewhat longer.
  expect(post.ms).toBeLessThan(23_500);
  if (name in unusable) expect(stage.made()[0]).toMatchObject({ id: toCome.id, key: toCome.key });
  const { key, status } = main.outputs;
  if (main.conclusion === 'success') {
    // Green only with a key that works.
    expect(aliveBetween).toContainEqual(expect.objectContaining({ key, id: main.outputs['key-id'] }));
    expect(main.masks).toContain(key);
  } else {
    expect({ key, status, exitCode: main.exitCode }).toEqual({ key: '', status: 'error', exitCode: 1 });
  }
}
