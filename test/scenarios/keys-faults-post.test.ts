import { type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../control-plane/index.js';
import { everyFault, everyFaultOfLists, typicalFaults, typicalFaultsOfLists } from './every-fault.js';
import { killAt, live, type Plot } from './key-stage.js';
import { LeakTable } from './leak-table.js';

interface Place {
  /** What main leaves: one key, and no doubt, when not told otherwise. */
  readonly main?: Pick<Plot, 'inMain' | 'meanwhile'>;
  /** What goes wrong before. */
  readonly prelude: readonly FaultRule[];
  readonly at: Omit<FaultRule, 'fault'>;
  readonly faults: Readonly<Record<string, Fault>>;
  /** Where post cannot do better than to tell of the key. */
  readonly mayLeave: (fault: Fault) => boolean;
}

/** Killed while its request was under way, which was carried out: the name is all there is. */
const killed: Place['main'] = {
  inMain: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'hang-before-headers' } }],
  meanwhile: killAt({ endpoint: 'create-key' }),
};
/** A key, and a create before it of which nothing was heard. */
const doubtful: Place['main'] = {
  inMain: [{ endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: 'never' } }],
};

const isWhole = process.env['KEYS_TABLE'] === 'all';
const no = () => false;
const withLongWait = (fault: Fault) => 'retryAfter' in fault && JSON.stringify(fault.retryAfter) === '{"seconds":60}';
const withRefusal = (fault: Fault) =>
  withLongWait(fault) ||
  (fault.kind === 'status' && fault.status < 500 && ![408, 423, 425, 429].includes(fault.status));

const places: Readonly<Record<string, Place>> = {
  'post: revoke': {
    prelude: [],
    at: { endpoint: 'revoke-key', nth: 1 },
    faults: everyFault,
    mayLeave: withLongWait,
  },
  'post: revoke by the parent key, the minted one refused': {
    prelude: [{ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 403 } }],
    at: { endpoint: 'revoke-key', nth: 2 },
    faults: everyFault,
    mayLeave: withRefusal,
  },
  'post: list, the answer to the revocation lost': {
    prelude: [{ endpoint: 'revoke-key', nth: 1, fault: { kind: 'cut-before-headers' } }],
    at: { endpoint: 'list-keys', nth: 1 },
    faults: everyFaultOfLists,
    mayLeave: no,
  },
  'post: list, the key not found': {
    prelude: [{ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 404 } }],
    at: { endpoint: 'list-keys', nth: 1 },
    faults: everyFaultOfLists,
    mayLeave: withLongWait,
  },
  // From here on 14 to 20 s by design.
  'post: every revoke': {
    prelude: [],
    at: { endpoint: 'revoke-key' },
    faults: isWhole ? everyFault : typicalFaults,
    mayLeave: () => true,
  },
  'post: every exchange': {
    prelude: [],
    at: { endpoint: 'any' },
    faults: isWhole ? everyFault : typicalFaults,
    mayLeave: () => true,
  },
  'post: every list, a create unclear': {
    main: doubtful,
    prelude: [],
    at: { endpoint: 'list-keys' },
    faults: isWhole ? everyFaultOfLists : typicalFaultsOfLists,
    mayLeave: withLongWait,
  },
  'post: list, a create unclear': {
    main: doubtful,
    prelude: [],
    at: { endpoint: 'list-keys', nth: 1 },
    faults: isWhole ? everyFaultOfLists : typicalFaultsOfLists,
    mayLeave: withLongWait,
  },
  'post: list, main killed': {
    main: killed,
    prelude: [],
    at: { endpoint: 'list-keys', nth: 1 },
    faults: isWhole ? everyFaultOfLists : typicalFaultsOfLists,
    mayLeave: withRefusal,
  },
  'post: revoke, main killed': {
    main: killed,
    prelude: [],
    at: { endpoint: 'revoke-key', nth: 1 },
    faults: isWhole ? everyFault : typicalFaults,
    mayLeave: withRefusal,
  },
};

const table = new LeakTable('What `create-key` and its post leave where an exchange of post goes wrong');

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
  { main: inMain, prelude, at, mayLeave }: Place,
): Promise<void> {
  const { expect } = context;
  const life = await live(context, { ...inMain, inPost: [...prelude, { ...at, fault }] });
  const { main, post, stage, aliveBetween } = life;
  table.add(name, exchange, life);

  expect(aliveBetween).toHaveLength(1);
  const met = stage.service.requests.filter(
    (one) => one.fault === fault.kind && (at.endpoint === 'any' || one.endpoint === at.endpoint),
  );
  expect(met.length, 'times that the fault was met').toBeGreaterThan(0);
  expect({ shown: life.shown, untold: life.untold, harmed: life.harmed }).toEqual({
    shown: [],
    untold: [],
    harmed: [],
  });
  if (!mayLeave(fault)) expect(life.alive, post.log).toEqual([]);
  expect([main.overran, post.overran]).toEqual([false, false]);
  // What is left makes a warning, and the job goes on.
  expect(post.conclusion).toBe('success');
  // 20 s of its own; the end of the process may take a busy machine somewhat longer.
  expect(post.ms).toBeLessThan(23_500);
}
