import { makeKeyName, repositoryFingerprint } from '../../../src/keys/key-name.js';
import type { Chance } from '../chance.js';
import type { Act, Expectation, StepPlan } from '../plan.js';
import type { Stage } from '../stage.js';
import type { Known } from '../virtual-github.js';

interface Drawn {
  readonly inputs: Record<string, string>;
  readonly expects: Expectation;
  readonly acts: Act[];
}

const hour = 3_600_000;

export function drawCreateKey(chance: Chance, stage: Stage, startsAtMs: number): Drawn {
  const revokes = chance.odds(0.85);
  const fails = chance.odds(0.5);
  const exportsTo = chance.odds(0.2) ? 'DB_API_KEY' : '';
  const acts: Act[] = [];
  if (chance.odds(0.06)) {
    acts.push({
      atMs: startsAtMs + chance.upTo(20_000),
      what: 'the parent key is revoked by another',
      act: (at) => at.revokeAsAnother(at.plane.keyOfSecret(at.plane.apiKey)?.id ?? ''),
    });
  }
  if (chance.odds(0.05)) {
    acts.push({
      atMs: startsAtMs + chance.upTo(20_000),
      what: 'the newest key is revoked by another',
      act: (at) => at.revokeAsAnother(at.plane.aliveKeys().slice(1).at(-1)?.id ?? ''),
    });
  }
  // Often, as what must be careful of it is rare: post that has seen a key, and could not yet revoke it.
  const reuses = chance.times(chance.odds(0.15) ? chance.pick([1, 8]) : 0, () => startsAtMs + chance.upTo(25_000));
  for (const atMs of reuses) {
    acts.push({
      atMs,
      what: 'the newest key is revoked by another, and its id used again',
      act: (at) => at.reuseId(at.plane.aliveKeys().slice(1).at(-1)?.id ?? ''),
    });
  }
  chance.times(chance.pick([0, 0, 2]), () => stage.plane.addKey('shop-deploy'));
  return {
    inputs: {
      ...(revokes ? {} : { 'revoke-in-post': 'false' }),
      ...(fails ? { 'on-revoke-failure': 'fail' } : {}),
      ...(exportsTo === '' ? {} : { 'export-env': exportsTo }),
      ...(chance.odds(0.2) ? { 'key-label': 'label' } : {}),
    },
    expects: { mode: 'create-key', revokes, fails, exportsTo },
    acts,
  };
}

type PostDrawn = Omit<StepPlan['post'], 'interruption' | 'forgery'>;

/** What post has for its inputs: those of main, or of another step, as in nested composites. */
export function drawPost(
  chance: Chance,
  stage: Stage,
  inputs: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): PostDrawn {
  const { 'api-key': parent = '', ...rest } = inputs;
  const afterMs = 1 + chance.upTo(8_000);
  return chance.pick<() => PostDrawn>([
    () => ({ afterMs, inputs, environment }),
    () => ({ afterMs, inputs, environment }),
    () => ({ afterMs, inputs, environment }),
    () => ({ afterMs, inputs: { ...rest, 'api-key': stage.plane.addKey('of another step').key }, environment }),
    () => ({ afterMs, inputs: rest, environment: { ...environment, CTL_API_KEY: parent } }),
    () => ({ afterMs, inputs: rest, environment }),
  ])();
}

export function drawRevokeKey(chance: Chance, stage: Stage, startsAtMs: number): Drawn {
  const { plane } = stage;
  const keys = chance.times(chance.pick([1, 2, 3, 9]), (index) =>
    plane.addKey(index === 0 ? 'ci' : chance.pick(['ci', 'deploy', 'deploy'])),
  );
  chance.times(chance.pick([0, 2]), () => plane.addKey('kept'));
  for (const { id } of keys) if (chance.odds(0.15)) plane.revokeKey(id);
  const acts: Act[] = keys.flatMap(({ id }) =>
    chance.odds(0.1)
      ? [
          {
            atMs: startsAtMs + chance.upTo(3_000),
            what: `key ${id} is revoked by another`,
            act: (at: Stage) => at.revokeAsAnother(id),
          },
        ]
      : [],
  );
  if (chance.odds(0.55)) {
    const name = chance.pick(['ci', 'deploy', 'nobody']);
    return { inputs: { 'key-name': name }, expects: { mode: 'revoke-key', ids: undefined, name }, acts };
  }
  const ids = keys.map(({ id }) => id);
  if (chance.odds(0.1)) ids.push('424242424242');
  return {
    inputs: { 'key-id': chance.odds(0.5) ? `[${ids.join(',')}]` : ids.join(' ') },
    expects: { mode: 'revoke-key', ids, name: undefined },
    acts,
  };
}

export const ownRun = '7700';

/** Keys of many runs, and what is so of each run; GitHub may not tell. */
export function drawSweep(
  chance: Chance,
  stage: Stage,
  startsAtMs: number,
): Drawn & { readonly runs: ReadonlyMap<string, Known> } {
  const { plane } = stage;
  const ours = repositoryFingerprint('https://github.com', '5');
  const theirs = repositoryFingerprint('https://github.com', '6');
  const runs = new Map<string, Known>();
  const isBlind = chance.odds(0.15);
  runs.set(
    ownRun,
    isBlind
      ? chance.pick<Known>([{ run: 'gone' }, refusal, { silent: true }])
      : { run: { attempt: 1, isCompleted: false }, ...(chance.odds(0.25) ? { hiddenAfter: chance.from(1, 6) } : {}) },
  );
  for (let left = chance.pick([1, 2, 4, 8]); left > 0; left--) {
    const id = chance.odds(0.15) ? ownRun : String(7_000 + chance.below(600));
    const attempt = chance.pick([1, 1, 2]);
    const isTheirs = chance.odds(0.2);
    const run = { id, attempt, fingerprint: isTheirs ? theirs : ours };
    const label = chance.pick(['shop', 'shop', 'a-kept', 'a-run7']);
    const name = makeKeyName(label, { run, isKept: chance.odds(0.2) }, chance.random);
    plane.addKeyOfAge(name, chance.pick([0, hour / 2, 2 * hour, 30 * 24 * hour, 36 * 24 * hour]));
    if (!runs.has(id)) runs.set(id, drawKnown(chance));
  }
  // Near misses: the shape of a name of ours, but not one that was made here.
  if (chance.odds(0.5)) plane.addKey('shop-run7001-1-abcdefghij-abcdefghijkl');
  chance.times(chance.pick([0, 2]), () => plane.addKey('shop-deploy'));
  const dryRun = chance.odds(0.15);
  const acts: Act[] = chance.odds(0.1)
    ? [
        {
          atMs: startsAtMs + chance.upTo(2_000),
          what: 'the newest key is revoked by another',
          act: (at) => at.revokeAsAnother(at.plane.aliveKeys().slice(1).at(-1)?.id ?? ''),
        },
      ]
    : [];
  return {
    inputs: { 'github-token': githubToken, ...(dryRun ? { 'dry-run': 'true' } : {}) },
    expects: { mode: 'sweep-keys', dryRun, olderThanMs: 35 * 24 * hour, ownRun },
    acts,
    runs,
  };
}

export const githubToken = 'ghs_tokenOfTheJobThatNobodyMaySee';

const refusal: Known = {
  unseen: { message: 'GitHub responded with status 403: Resource not accessible', status: 403, transient: false },
  times: Number.POSITIVE_INFINITY,
  later: 'gone',
};

function drawKnown(chance: Chance): Known {
  const run = chance.pick([
    { attempt: 1, isCompleted: true },
    { attempt: 1, isCompleted: true },
    { attempt: 1, isCompleted: false },
    { attempt: 2, isCompleted: false },
    { attempt: 3, isCompleted: true },
    'gone',
  ] as const);
  return chance.pick<() => Known>([
    () => ({ run }),
    () => ({ run }),
    () => ({ run }),
    () => ({ run }),
    () => ({
      unseen: { message: 'GitHub responded with status 502', status: 502, transient: true },
      times: chance.pick([1, 2, 99]),
      later: run,
    }),
    () => ({
      unseen: {
        message: 'GitHub responded with status 429',
        status: 429,
        transient: true,
        retryAfterMs: chance.below(9_000),
      },
      times: chance.pick([1, 99]),
      later: run,
    }),
    () => (run === 'gone' ? { run } : { foundAfter: 1, later: run }),
    () => (chance.odds(0.3) ? { silent: true } : { run }),
    () => (chance.odds(0.3) ? refusal : { run }),
  ])();
}
