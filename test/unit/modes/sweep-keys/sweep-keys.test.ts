import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import type { Exchange } from '../../../../src/http/exchange.js';
import { makeKeyName, parseKeyName, repositoryFingerprint, type WorkflowRun } from '../../../../src/keys/key-name.js';
import type { LookupFailure, RunState, WorkflowRuns } from '../../../../src/modes/sweep-keys/run-lookups.js';
import { type SweepKeysSettings, type SweepResult, sweepKeys } from '../../../../src/modes/sweep-keys/sweep-keys.js';
import { Cancellation, CancelledError, Deadline } from '../../../../src/time/deadline.js';
import { seededRandom } from '../../../control-plane/random.js';
import { World, type WorldOptions } from '../../../virtual/world.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const ours = repositoryFingerprint('https://github.com', '123456789');
const own: WorkflowRun = { id: '9000', attempt: 2, fingerprint: ours };

/** What GitHub knows of a run; `hangs`: it never answers. A run that it does not know is gone. */
type Known = RunState | 'gone' | 'hangs' | LookupFailure | Error;

/** GitHub as far as it matters here, with all that it was asked. */
class FakeRuns implements WorkflowRuns {
  readonly asked: string[] = [];
  readonly events: string[] = [];
  mostAtOnce = 0;
  /** Lets others come while an answer is under way. */
  pause = async (): Promise<void> => undefined;
  #atOnce = 0;
  readonly #known = new Map<string, Known>([[own.id, { attempt: 2, isCompleted: false }]]);

  constructor(known: Readonly<Record<string, Known>> = {}) {
    for (const [id, what] of Object.entries(known)) this.#known.set(id, what);
  }

  async find(id: string): ReturnType<WorkflowRuns['find']> {
    this.asked.push(id);
    this.events.push(`look ${id}`);
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
    await this.pause();
    this.#atOnce--;
    const known = this.#known.get(id) ?? 'gone';
    if (known === 'hangs') return new Promise(() => undefined);
    if (known instanceof Error) throw known;
    return typeof known === 'object' && 'message' in known ? { failure: known } : { run: known };
  }
}

interface SweepOptions extends Partial<SweepKeysSettings> {
  readonly requestTimeout?: number;
  readonly runs?: FakeRuns;
  readonly timeout?: number;
  readonly cancel?: Cancellation;
  readonly exchange?: Exchange;
}

/** A service on a virtual clock, and a sweep of its keys. The key in use has the id 1. */
class Sweeping {
  readonly world: World;
  runs = new FakeRuns();

  constructor(options?: WorldOptions) {
    this.world = new World(options);
  }

  add(name: string, ageMs = 0): string {
    return this.world.plane.addKeyOfAge(name, ageMs).id;
  }

  /** Old enough for a 404 of its run to count. */
  addOf(id: string, { attempt = 1, ageMs = day, isKept = false } = {}): string {
    const made = makeKeyName('shop', { run: { id, attempt, fingerprint: ours }, isKept }, Math.random);
    return this.add(made, ageMs);
  }

  alive(): string[] {
    return this.world.plane.aliveKeys().map(({ id }) => id);
  }

  async sweep(options: SweepOptions = {}): Promise<SweepResult & { readonly took: number }> {
    const { timeout = 10 * minute, requestTimeout = 30 * second, cancel = new Cancellation() } = options;
    const { exchange, runs = this.runs, olderThan = 35 * day, dryRun = false } = options;
    const { clock, plane } = this.world;
    const access = { baseUrl: new URL('https://control.test/v2'), apiKey: plane.apiKey, requestTimeout: 30 * second };
    const began = clock.now();
    const sweeping = sweepKeys(
      { run: own, olderThan, dryRun, repository: 'org/shop', githubToken: 'a-token' },
      {
        api: new ControlApi(exchange ?? this.world.connect(), access, silent),
        deadline: new Deadline(clock, began + timeout, cancel),
        log: silent,
        random: seededRandom(1),
      },
      { workflowRuns: async () => runs, requestTimeout },
    );
    const swept = await clock.run(sweeping);
    return { ...swept, took: clock.now() - began };
  }
}

function revoked({ revocations: fates }: SweepResult): string[] {
  return fates.flatMap((fate) => ('outcome' in fate && fate.outcome === 'revoked' ? [fate.id] : []));
}

function over({ decisions: judged }: SweepResult): string[] {
  return judged.filter(({ isOver }) => isOver).map(({ key }) => key.id);
}

function failing(status: number, rest: Partial<LookupFailure> = {}): LookupFailure {
  return { message: `GitHub responded with status ${status}`, status, transient: status >= 500, ...rest };
}

// Names

const digit = fc.integer({ min: 0, max: 9 }).map(String);
const runId = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.array(digit, { maxLength: 19 }))
  .map(([first, rest]) => `${first}${rest.join('')}`)
  .filter((id) => id !== own.id);
const label = fc.string({ unit: fc.constantFrom(...'abz019-'), minLength: 1, maxLength: 20 });
const random = fc.integer({ min: 0, max: 2 ** 31 }).map((seed) => seededRandom(seed));
const ownName = fc
  .tuple(label, runId, fc.integer({ min: 1, max: 999 }), random)
  .map(([text, id, attempt, dice]) =>
    makeKeyName(text, { run: { id, attempt, fingerprint: ours }, isKept: false }, dice),
  );

const letter = fc.oneof(
  fc.constantFrom(...'ab09-_.AZ/%*: \n\r\t\u0000'),
  fc.constantFrom('\u00e9', '\u0131', '\u2010', '\uff10', '\u{1f511}'),
);
const place = fc.nat(64);

type Mutate = (name: string) => string;

const mutations: Readonly<Record<string, fc.Arbitrary<Mutate>>> = {
  deletion: fc.tuple(place, fc.integer({ min: 1, max: 12 })).map(
    ([at, length]) =>
      (name) =>
        name.slice(0, at) + name.slice(at + length),
  ),
  insertion: fc.tuple(place, letter).map(
    ([at, one]) =>
      (name) =>
        name.slice(0, at) + one + name.slice(at),
  ),
  replacement: fc.tuple(place, letter).map(
    ([at, one]) =>
      (name) =>
        name.slice(0, at) + one + name.slice(at + 1),
  ),
  'another case': fc.tuple(place, place).map(
    ([from, to]) =>
      (name) =>
        name.slice(0, from) + name.slice(from, to).toUpperCase() + name.slice(to),
  ),
  prefix: fc
    .oneof(letter, fc.constantFrom('copy of ', 'old-', 'x'.repeat(21)), fc.string())
    .map((begin) => (name) => begin + name),
  suffix: fc.oneof(letter, fc.constantFrom(' (2)', '-old', '-x', '\n'), fc.string()).map((end) => (name) => name + end),
  'another fingerprint': fc
    .oneof(fc.constant(ours), fc.string({ unit: fc.constantFrom(...'abz019'), minLength: 9, maxLength: 11 }))
    .map((text) => (name) => name.replace(/-[a-z0-9]{10}-([a-z0-9]+)$/, `-${text}-$1`)),
  'parts in another order': fc.tuple(fc.nat(5), fc.nat(5)).map(([from, to]) => (name) => {
    const parts = name.split('-');
    parts.splice(to, 0, ...parts.splice(from, 1));
    return parts.join('-');
  }),
  'another sign between': fc.constantFrom('_', '--', '\u2010', '').map((sign) => (name) => name.replaceAll('-', sign)),
};

describe('names', () => {
  it.each(Object.entries(mutations))('of ours that are changed by %s are nobody’s', async (_, mutate) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(ownName, mutate), { minLength: 1, maxLength: 20 }), async (pairs) => {
        const sweeping = new Sweeping();
        const made = pairs.map(([name]) => name);
        const names = pairs.map(([name, change]) => change(name));
        const ids = names.map((name) => ({ name, id: sweeping.add(name, 300 * day) }));

        // All runs are gone: all that is ours goes.
        await sweeping.sweep({ olderThan: 1 });

        const dead = ids.filter(({ id }) => !sweeping.alive().includes(id)).map(({ name }) => name);
        expect(dead.filter((name) => parseKeyName(name)?.run.fingerprint !== ours)).toEqual([]);
        // Some changes change nothing.
        expect(dead).toEqual(names.filter((name) => made.includes(name)));
      }),
      { numRuns: 150 },
    );
  });

  it('of any text are nobody’s', async () => {
    const part = fc.oneof(fc.string(), label, fc.constantFrom('shop', '-run', 'run11', '-', '1', ours, 'abcdefghijkl'));
    const name = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''));
    const shaped = fc
      .tuple(label, runId, fc.constantFrom(ours, 'abcdefghij', '0000000000'), fc.constantFrom('abcdefghijkl', 'abcd'))
      .map(([text, id, middle, end]) => `${text}-run${id}-1-${middle}-${end}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(name, shaped), { minLength: 1, maxLength: 20 }), async (names) => {
        const sweeping = new Sweeping();
        for (const one of names) sweeping.add(one, 300 * day);
        await sweeping.sweep({ olderThan: 1 });
        expect(sweeping.alive()).toHaveLength(1 + names.length);
      }),
      { numRuns: 200 },
    );
  });

  it('that create-key makes are all found again, by their run and attempt', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(ownName, { minLength: 1, maxLength: 12 }), async (names) => {
        const sweeping = new Sweeping();
        const ids = names.map((name) => sweeping.add(name, day));
        const swept = await sweeping.sweep();
        expect(revoked(swept)).toEqual(ids);
        expect(swept.decisions.map(({ run }) => run)).toEqual(names.map((name) => parseKeyName(name)?.run));
        expect(sweeping.alive()).toEqual(['1']);
      }),
      { numRuns: 100 },
    );
  });
});

// Which runs are over

interface KeyModel {
  readonly run: string;
  readonly attempt: number;
  readonly ageDays: number;
  readonly isOurs: boolean;
  readonly isKept: boolean;
}

const runIds = ['11', '12', '13', '14'] as const;
const known: fc.Arbitrary<Known> = fc.oneof(
  fc.constant<Known>('gone'),
  fc.record({ attempt: fc.constantFrom(undefined, 1, 2, 3), isCompleted: fc.boolean() }),
);
const troubled: fc.Arbitrary<Known> = fc.constantFrom(failing(500), failing(503), 'hangs' as const);
const keyModel: fc.Arbitrary<KeyModel> = fc.record({
  run: fc.constantFrom(...runIds, own.id),
  attempt: fc.integer({ min: 1, max: 3 }),
  ageDays: fc.constantFrom(0, 1, 34, 36, 300),
  isOurs: fc.boolean(),
  isKept: fc.boolean(),
});

function isOver(
  { run, attempt, ageDays, isKept }: KeyModel,
  runs: Readonly<Record<string, Known>>,
  ownSeen: boolean,
): boolean {
  const ofOwn = { attempt: own.attempt, isCompleted: false };
  const state = run === own.id ? ofOwn : ownSeen ? runs[run] : undefined;
  if (isKept) return false;
  if (state === 'gone') return ageDays > 0;
  if (typeof state !== 'object' || !('isCompleted' in state)) return ageDays > 35;
  // An old view of a run that began once more.
  if (state.attempt !== undefined && state.attempt < attempt) return ageDays > 35;
  return state.isCompleted || (state.attempt ?? 0) > attempt;
}

it('keys are revoked if, and only if, their run is over as far as it can be seen', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ '11': known, '12': known, '13': fc.oneof(known, troubled), '14': fc.oneof(known, troubled) }),
      fc.array(keyModel, { maxLength: 25 }),
      fc.boolean(),
      fc.boolean(),
      async (states, models, ownSeen, dryRun) => {
        const sweeping = new Sweeping();
        const runs = new FakeRuns({ ...states, ...(ownSeen ? {} : { [own.id]: 'gone' }) });
        const keys = models.map((model) => {
          const fingerprint = model.isOurs ? ours : repositoryFingerprint('https://github.com', '5');
          const name = makeKeyName(
            'shop',
            { run: { id: model.run, attempt: model.attempt, fingerprint }, isKept: model.isKept },
            Math.random,
          );
          return { ...model, id: sweeping.add(name, model.ageDays * day) };
        });

        const swept = await sweeping.sweep({ runs, dryRun });

        const expected = keys.filter((key) => key.isOurs && isOver(key, states, ownSeen)).map(({ id }) => id);
        expect(over(swept)).toEqual(expected);
        expect(revoked(swept)).toEqual(dryRun ? [] : expected);
        const dead = keys.filter(({ id }) => !sweeping.alive().includes(id)).map(({ id }) => id);
        expect(dead).toEqual(dryRun ? [] : expected);
        expect(swept.decisions).toHaveLength(keys.filter((key) => key.isOurs).length);
        expect(swept.others.ofOtherRepositories).toBe(keys.filter((key) => !key.isOurs).length);
      },
    ),
    { numRuns: 200 },
  );
});

// What is asked

it('keys are read first, then runs are looked at, then keys are revoked', async () => {
  const sweeping = new Sweeping();
  const { runs, world } = sweeping;
  const connected = world.connect();
  const exchange: Exchange = (request, onStop) => {
    runs.events.push(request.method);
    return connected(request, onStop);
  };
  for (const id of ['11', '12']) sweeping.addOf(id);
  await sweeping.sweep({ exchange });
  const looks = [own.id, '11', '12', '11', '12', own.id].map((id) => `look ${id}`);
  expect(runs.events).toEqual(['GET', ...looks, 'DELETE', 'DELETE']);
});

it('each run is asked for once, or twice if it is not found, and a few at a time', async () => {
  const sweeping = new Sweeping();
  for (let n = 0; n < 120; n++) sweeping.addOf(String(100 + (n % 40)));
  for (let n = 0; n < 3; n++) sweeping.addOf(own.id, { attempt: 2 });
  const { runs, world } = sweeping;
  const { clock } = world;
  runs.pause = () => new Promise((resolve) => clock.schedule(clock.now() + second, resolve));
  const swept = await sweeping.sweep();
  expect(revoked(swept)).toHaveLength(120);
  expect([runs.asked[0], runs.asked.at(-1)]).toEqual([own.id, own.id]);
  expect(runs.asked).toHaveLength(1 + 40 + 40 + 1);
  expect(new Set(runs.asked).size).toBe(41);
  expect(runs.mostAtOnce).toBeGreaterThan(1);
  expect(runs.mostAtOnce).toBeLessThanOrEqual(6);
});

it('GitHub is not asked where nothing hangs on it', async () => {
  const sweeping = new Sweeping();
  sweeping.add('by hand', 300 * day);
  const early = sweeping.addOf(own.id, { attempt: 1 });
  sweeping.addOf(own.id, { attempt: 2, ageMs: 300 * day });
  sweeping.addOf(own.id, { attempt: 3 });
  const swept = await sweeping.sweep();
  expect(revoked(swept)).toEqual([early]);
  expect(sweeping.runs.asked).toEqual([]);
});

it('what GitHub says of this very run does not matter, as it goes on', async () => {
  const sweeping = new Sweeping();
  const kept = sweeping.addOf(own.id, { attempt: 2, ageMs: 300 * day });
  const gone = sweeping.addOf('11');
  const runs = new FakeRuns({ [own.id]: { attempt: 9, isCompleted: true } });
  const swept = await sweeping.sweep({ runs });
  expect(revoked(swept)).toEqual([gone]);
  expect(sweeping.alive()).toEqual(['1', kept]);
});

it('who is refused once is not asked again', async () => {
  const sweeping = new Sweeping();
  const ids = Array.from({ length: 50 }, (_, n) => String(100 + n));
  for (const id of ids) sweeping.addOf(id);
  const runs = new FakeRuns(Object.fromEntries(ids.map((id) => [id, failing(403)])));
  const swept = await sweeping.sweep({ runs });
  expect(revoked(swept)).toEqual([]);
  expect(runs.asked.length).toBeLessThanOrEqual(7);
  expect(swept.failures[0]?.message).toContain('403');
});

it('who is down for three is down for all', async () => {
  const sweeping = new Sweeping();
  const ids = Array.from({ length: 50 }, (_, n) => String(100 + n));
  for (const id of ids) sweeping.addOf(id);
  const runs = new FakeRuns(Object.fromEntries(ids.map((id) => [id, failing(502)])));
  const swept = await sweeping.sweep({ runs });
  expect(revoked(swept)).toEqual([]);
  expect(new Set(runs.asked).size).toBeLessThanOrEqual(12);
  expect(swept.took).toBeLessThan(2 * minute);
});

describe('a run that is not found', () => {
  /** GitHub, whose answer to the n-th request for a run is in `answers`; the last one stands for all that follow. */
  function answering(
    { clock }: World,
    answers: Readonly<Record<string, readonly Known[]>>,
  ): FakeRuns & { readonly times: readonly (readonly [id: string, at: number])[] } {
    const times: [string, number][] = [];
    const look: WorkflowRuns['find'] = async (id) => {
      const before = times.filter(([other]) => other === id).length;
      times.push([id, clock.now()]);
      const all = answers[id] ?? [{ attempt: 2, isCompleted: false }];
      return new FakeRuns({ [id]: all[Math.min(before, all.length - 1)] ?? 'gone' }).find(id);
    };
    return Object.assign(new FakeRuns(), { find: look, times });
  }
  const running: Known = { attempt: 1, isCompleted: false };

  it.each([
    [hour, false],
    [hour + 1, true],
    [hour - 1, false],
    [0, false],
    [-day, false],
  ])('counts for a key of %d ms: %s', async (ageMs, counts) => {
    const sweeping = new Sweeping();
    const id = sweeping.addOf('11', { ageMs });
    const swept = await sweeping.sweep();
    expect(revoked(swept)).toEqual(counts ? [id] : []);
    expect(swept.failures).toEqual([]);
  });

  it('is asked for again at least 1 s later, all such runs after one pause, and then this very run', async () => {
    const sweeping = new Sweeping();
    const ids = ['11', '12', '13'];
    for (const id of ids) sweeping.addOf(id);
    const runs = answering(sweeping.world, Object.fromEntries(ids.map((id) => [id, ['gone']])));
    const swept = await sweeping.sweep({ runs });
    expect(revoked(swept)).toHaveLength(3);
    expect(runs.times).toEqual([
      ...[own.id, ...ids].map((id) => [id, 0]),
      ...[...ids, own.id].map((id) => [id, second]),
    ]);
  });

  it('is not asked for again where all its keys are too young for that', async () => {
    const sweeping = new Sweeping();
    sweeping.addOf('11', { ageMs: minute });
    const swept = await sweeping.sweep();
    expect(revoked(swept)).toEqual([]);
    expect(swept.decisions[0]?.reason).toBe('its run was not found, but the key is not older than 1h');
    expect(sweeping.runs.asked).toEqual([own.id, '11']);
    expect(swept.took).toBe(0);
  });

  it('counts for its old keys alone', async () => {
    const sweeping = new Sweeping();
    const old = sweeping.addOf('11', { ageMs: 2 * hour });
    sweeping.addOf('11', { ageMs: minute });
    expect(revoked(await sweeping.sweep())).toEqual([old]);
  });

  it.each<[string, Known]>([
    ['shows the run', running],
    ['fails', failing(403)],
    ['hangs', 'hangs'],
  ])('does not count if the second request %s', async (_, answer) => {
    const sweeping = new Sweeping();
    sweeping.addOf('11', { ageMs: 34 * day });
    const swept = await sweeping.sweep({ runs: answering(sweeping.world, { '11': ['gone', answer] }) });
    expect(over(swept)).toEqual([]);
    expect(swept.failures).toHaveLength(answer === running ? 0 : 1);
  });

  it.each<[string, Known]>([
    ['is hidden', 'gone'],
    ['cannot be read', failing(403)],
  ])('does not count if this very run %s afterwards: then age alone counts', async (_, answer) => {
    const sweeping = new Sweeping();
    sweeping.addOf('11', { ageMs: 34 * day });
    const old = sweeping.addOf('11', { ageMs: 36 * day });
    const completed = sweeping.addOf('12', { ageMs: 0 });
    const runs = answering(sweeping.world, {
      [own.id]: [running, answer],
      '11': ['gone'],
      '12': [{ attempt: 1, isCompleted: true }],
    });
    const swept = await sweeping.sweep({ runs });
    expect(over(swept)).toEqual([old, completed]);
    expect(swept.failures).toHaveLength(1);
  });

  it('does not count if the time for GitHub ends before the second request', async () => {
    const sweeping = new Sweeping();
    sweeping.addOf('11', { ageMs: 34 * day });
    const swept = await sweeping.sweep({ timeout: 2 * second });
    expect(over(swept)).toEqual([]);
    expect(swept.failures.map(({ message }) => message)).toEqual([
      'no time was left for a second request to GitHub about runs that it did not find',
    ]);
  });
});

describe('a key kept on purpose', () => {
  it.each<[string, Known, Partial<SweepKeysSettings>]>([
    ['whose run is gone', 'gone', {}],
    ['whose run is completed', { attempt: 1, isCompleted: true }, {}],
    ['whose run is at a later attempt', { attempt: 9, isCompleted: false }, {}],
    ['in a dry run', 'gone', { dryRun: true }],
  ])('%s is not swept, and GitHub is not asked about it', async (_, known, settings) => {
    const sweeping = new Sweeping();
    const kept = sweeping.addOf('11', { ageMs: 300 * day, isKept: true });
    const runs = new FakeRuns({ '11': known });
    const swept = await sweeping.sweep({ runs, ...settings });
    expect(sweeping.alive()).toEqual(['1', kept]);
    expect(swept.decisions).toMatchObject([{ key: { id: kept }, isKept: true, isOver: false }]);
    expect(runs.asked).toEqual([]);
  });

  it('is not swept by its age where GitHub cannot be asked, nor with an earlier attempt of this very run', async () => {
    const sweeping = new Sweeping();
    const kept = sweeping.addOf('11', { ageMs: 300 * day, isKept: true });
    const own1 = sweeping.addOf(own.id, { ageMs: 300 * day, isKept: true });
    const swept = sweeping.addOf('11', { ageMs: 300 * day });
    await sweeping.sweep({ runs: new FakeRuns({ [own.id]: failing(403) }) });
    expect(sweeping.alive()).toEqual(['1', kept, own1]);
    expect(sweeping.alive()).not.toContain(swept);
  });
});

describe('a list of keys that announces more', () => {
  const exchangeOf =
    (connected: Exchange): Exchange =>
    async (request, onStop) => {
      const answer = await connected(request, onStop);
      return { ...answer, headers: { ...answer.headers, link: '</v2/api_keys?page=2>; rel="next"' } };
    };

  it('is swept as far as it goes, and said to be incomplete', async () => {
    const sweeping = new Sweeping();
    const id = sweeping.addOf('11');
    const swept = await sweeping.sweep({ exchange: exchangeOf(sweeping.world.connect()) });
    expect(revoked(swept)).toEqual([id]);
    expect(swept.listIsComplete).toBe(false);
    expect((await sweeping.sweep()).listIsComplete).toBe(true);
  });

  it('does not confirm a 404: the key is not known to be gone', async () => {
    const sweeping = new Sweeping();
    const id = sweeping.addOf('11');
    const connected = sweeping.world.connect();
    const exchange: Exchange = (request, onStop) => {
      if (request.method === 'DELETE') sweeping.world.plane.revokeKey(id);
      return exchangeOf(connected)(request, onStop);
    };
    const { revocations: fates } = await sweeping.sweep({ exchange });
    expect(fates).toMatchObject([
      { id, failure: { message: expect.stringMatching(/404.*list of keys is incomplete/) } },
    ]);
  });
});

it('an id that got another name during the sweep is that of another key: ours is gone, and it is not touched again', async () => {
  const sweeping = new Sweeping();
  const id = sweeping.addOf('11');
  const connected = sweeping.world.connect();
  const methods: string[] = [];
  const exchange: Exchange = async (request, onStop) => {
    methods.push(request.method);
    if (request.method !== 'DELETE') return connected(request, onStop);
    Object.assign(sweeping.world.plane.key(id) ?? {}, { name: 'of another tool' });
    return { status: 404, headers: {}, body: '' };
  };
  const { revocations: fates } = await sweeping.sweep({ exchange });
  expect(fates).toEqual([{ id, outcome: 'already-gone' }]);
  expect(methods).toEqual(['GET', 'DELETE', 'GET']);
});

// Age

it.each([
  ['ahead', 2 * hour],
  ['behind', -2 * hour],
])('ages are those on the clock of the service, though it is far %s of that of the runner', async (_, aheadMs) => {
  const sweeping = new Sweeping();
  const connected = sweeping.world.connect();
  const exchange: Exchange = async (request, onStop) => {
    const answer = await connected(request, onStop);
    const date = new Date(sweeping.world.clock.epochMs() + aheadMs).toUTCString();
    return { ...answer, headers: { ...answer.headers, date } };
  };
  const old = sweeping.addOf('11', { ageMs: 61 * minute - aheadMs });
  const young = sweeping.addOf('11', { ageMs: 59 * minute - aheadMs });
  expect(revoked(await sweeping.sweep({ exchange }))).toEqual([old]);
  expect(sweeping.alive()).toEqual(['1', young]);
});

it.each([
  [35 * day, false],
  [35 * day + 1, true],
  [35 * day - 1, false],
  [0, false],
  [-day, false],
])('a key of %d ms whose run cannot be seen is older than 35 days: %s', async (ageMs, isOlder) => {
  const sweeping = new Sweeping();
  const id = sweeping.addOf('11', { ageMs });
  const runs = new FakeRuns({ [own.id]: failing(401) });
  expect(revoked(await sweeping.sweep({ runs }))).toEqual(isOlder ? [id] : []);
});

it.each(['absent', null, '', 'yesterday', 'about 5', 0, 1700, false, {}, []])(
  'a key made %j is not known to be old, and stays',
  async (created_at) => {
    const sweeping = new Sweeping();
    const name = makeKeyName('shop', { run: { id: '11', attempt: 1, fingerprint: ours }, isKept: false }, Math.random);
    const record = { id: 5, name, ...(created_at === 'absent' ? {} : { created_at }) };
    const methods: string[] = [];
    const exchange: Exchange = async ({ method }) => {
      methods.push(method);
      return { status: 200, headers: {}, body: JSON.stringify([record]) };
    };
    const swept = await sweeping.sweep({ exchange, olderThan: 1, runs: new FakeRuns({ [own.id]: failing(401) }) });
    expect(over(swept)).toEqual([]);
    expect(methods).toEqual(['GET']);
  },
);

it.each([
  ['seconds alone', '2023-11-20T00:00:00Z'],
  ['microseconds', '2023-11-20T00:00:00.123456Z'],
  ['another zone', '2023-11-20T02:00:00+02:00'],
])('its age is read from a time with %s', async (_, created_at) => {
  const sweeping = new Sweeping();
  const name = makeKeyName('shop', { run: { id: '11', attempt: 1, fingerprint: ours }, isKept: false }, Math.random);
  const exchange: Exchange = async ({ method }) =>
    method === 'GET'
      ? { status: 200, headers: {}, body: JSON.stringify([{ id: 5, name, created_at }]) }
      : { status: 200, headers: {}, body: '{"id":5,"revoked":true}' };
  // The clock starts with the year 2024.
  const swept = await sweeping.sweep({ exchange, runs: new FakeRuns({ [own.id]: failing(401) }) });
  expect(revoked(swept)).toEqual(['5']);
});

// Time

it('a GitHub that never answers gets five tries of request-timeout, and the keys the rest', async () => {
  const sweeping = new Sweeping();
  const old = sweeping.addOf('11', { ageMs: 36 * day });
  const runs = new FakeRuns({ [own.id]: 'hangs' });
  const swept = await sweeping.sweep({ runs, requestTimeout: 10 * second });
  expect(revoked(swept)).toEqual([old]);
  expect(runs.asked).toEqual(Array.from({ length: 5 }, () => own.id));
  expect(swept.took).toBeGreaterThanOrEqual(50 * second);
  expect(swept.took).toBeLessThan(70 * second);
  expect(swept.failures.map(({ message }) => message)).toEqual(['GitHub did not respond within request-timeout']);
});

it('but never more than half of the time', async () => {
  const sweeping = new Sweeping({ faults: [{ endpoint: 'revoke-key', fault: { kind: 'delay', ms: 20 * second } }] });
  const old = sweeping.addOf('11', { ageMs: 36 * day });
  const runs = new FakeRuns({ [own.id]: 'hangs' });
  const swept = await sweeping.sweep({ runs, timeout: 2 * minute, requestTimeout: 5 * minute });
  expect(revoked(swept)).toEqual([old]);
  expect(swept.took).toBe(80 * second);
  expect(swept.failures).toHaveLength(1);
});

it('those that hang do not hold up what was seen of the others', async () => {
  const sweeping = new Sweeping();
  const ids = Array.from({ length: 12 }, (_, n) => String(100 + n));
  const keys = ids.map((id) => sweeping.addOf(id));
  const over: Known = { attempt: 1, isCompleted: true };
  const all = Object.fromEntries(ids.map((id) => [id, over]));
  const runs = new FakeRuns({ ...all, '101': 'hangs', '105': 'hangs' });
  const swept = await sweeping.sweep({ runs, requestTimeout: 5 * minute });
  expect(revoked(swept)).toEqual(keys.filter((_, n) => n !== 1 && n !== 5));
  expect(swept.took).toBeLessThanOrEqual(5 * minute);
});

it('a rate limit that ends in time is waited for', async () => {
  const sweeping = new Sweeping();
  const id = sweeping.addOf('11');
  const runs = new FakeRuns();
  const limited = failing(429, { transient: true, retryAfterMs: 4 * minute });
  let times = 0;
  const look: WorkflowRuns['find'] = async (run) => (times++ < 1 ? { failure: limited } : runs.find(run));
  const swept = await sweeping.sweep({ runs: Object.assign(new FakeRuns(), { find: look }) });
  expect(revoked(swept)).toEqual([id]);
  expect(swept.failures).toEqual([]);
  expect(swept.took).toBeGreaterThanOrEqual(4 * minute);
});

it('one that does not is not waited for at all, and is told', async () => {
  const sweeping = new Sweeping();
  sweeping.addOf('11');
  const limited = failing(429, { transient: true, retryAfterMs: 6 * minute });
  const runs = new FakeRuns({ [own.id]: limited });
  const swept = await sweeping.sweep({ runs });
  expect(revoked(swept)).toEqual([]);
  expect(swept.took).toBeLessThan(second);
  expect(runs.asked).toHaveLength(1);
  expect(swept.failures[0]?.message).toMatch(/status 429.*asks to wait 6m, but only 5m remain/);
});

it('one that begins anew each time is told as what it is', async () => {
  const sweeping = new Sweeping();
  sweeping.addOf('11');
  const limited = failing(429, { transient: true, retryAfterMs: minute });
  const swept = await sweeping.sweep({ runs: new FakeRuns({ [own.id]: limited }) });
  expect(swept.took).toBeLessThanOrEqual(5 * minute);
  expect(swept.failures[0]?.message).toContain('status 429');
});

it('so is a service that is down, and asks for more time than there is', async () => {
  const sweeping = new Sweeping();
  sweeping.addOf('11');
  const down = failing(503, { retryAfterMs: 60 * minute });
  const swept = await sweeping.sweep({ runs: new FakeRuns({ [own.id]: down }) });
  expect(revoked(swept)).toEqual([]);
  expect(swept.failures[0]?.message).toContain('status 503');
});

// Ends

it.each([own.id, '11'])('a cancel while run %s is awaited is a cancel, and nothing is revoked', async (hanging) => {
  const sweeping = new Sweeping();
  const id = sweeping.addOf('11', { ageMs: 300 * day });
  const cancel = new Cancellation();
  sweeping.world.clock.schedule(7 * second, () => cancel.cancel());
  await expect(sweeping.sweep({ runs: new FakeRuns({ [hanging]: 'hangs' }), cancel })).rejects.toThrow(CancelledError);
  expect(sweeping.alive()).toEqual(['1', id]);
  expect(sweeping.world.clock.now()).toBe(7 * second);
});

it.each([own.id, '11'])('a defect of what looks at run %s is no reason to revoke', async (broken) => {
  const sweeping = new Sweeping();
  const id = sweeping.addOf('11', { ageMs: 300 * day });
  const runs = new FakeRuns({ [broken]: new TypeError('undefined is not a function') });
  await expect(sweeping.sweep({ runs })).rejects.toThrow('undefined is not a function');
  expect(sweeping.alive()).toEqual(['1', id]);
});

it('one revocation that fails does not stop the rest', async () => {
  const sweeping = new Sweeping({ faults: [{ path: '/api_keys/3', fault: { kind: 'status', status: 403 } }] });
  for (const id of ['11', '12', '13']) sweeping.addOf(id);
  const swept = await sweeping.sweep();
  expect(revoked(swept)).toEqual(['2', '4']);
  expect(swept.revocations.map((fate) => 'failure' in fate)).toEqual([false, true, false]);
});
