import { makeKeyName } from '../../../src/keys/key-name.js';
import type { LookupFailure } from '../../../src/modes/sweep-keys/workflow-runs.js';
import type { Chance } from '../chance.js';
import { type GitHubRun, githubToken, type OutsideEvent, ownRun } from '../plan.js';
import type { Stage } from '../stage.js';
import { fingerprintOf, ownFingerprint } from '../truth.js';
import type { Task } from './lists.js';

const hour = 3_600_000;

export function drawCreateKey(chance: Chance, stage: Stage, { startsAtMs }: Task) {
  const revokes = chance.odds(0.85);
  const fails = chance.odds(0.5);
  const soon = () => startsAtMs + chance.upTo(25_000);
  chance.times(chance.pick([0, 0, 2]), () => stage.plane.addKey('shop-deploy'));
  return {
    inputs: { 'revoke-in-post': revokes ? '' : 'false', 'on-revoke-failure': fails ? 'fail' : '' },
    expects: { mode: 'create-key' as const, revokes, fails },
    events: [
      ...chance.sometimes(0.06, () =>
        revocation(soon(), 'the parent key', ({ plane }) => plane.keyOfSecret(plane.apiKey)?.id),
      ),
      ...chance.sometimes(0.05, () => revocation(soon(), 'the newest key', newestKey)),
    ],
  };
}

export function revocation(atMs: number, which: string, idOf: (stage: Stage) => string | undefined): OutsideEvent {
  return { atMs, what: `${which} is revoked by another`, run: (stage) => stage.revokeAsAnother(idOf(stage) ?? '') };
}

export function makeKey(atMs: number, name: string): OutsideEvent {
  return { atMs, what: 'a key is made by another', run: ({ plane }) => void plane.addKey(name) };
}

function newestKey({ plane }: Stage): string {
  return plane.aliveKeys().slice(1).at(-1)?.id ?? '';
}

/** Post gets the inputs of main, or of another step, as in nested composites. */
export function drawPost(
  chance: Chance,
  { plane }: Stage,
  main: { inputs: Record<string, string>; environment: Record<string, string> },
) {
  const { 'api-key': parent = '', ...rest } = main.inputs;
  const another = plane.addKey('of another step').key;
  return {
    afterMs: 1 + chance.pick([chance.upTo(8_000), chance.below(13_000)]),
    ...chance.pick([
      main,
      main,
      main,
      { ...main, inputs: { ...rest, 'api-key': another } },
      { inputs: rest, environment: { ...main.environment, CTL_API_KEY: parent } },
      { ...main, inputs: rest },
    ]),
  };
}

export function drawRevokeKey(chance: Chance, stage: Stage, { startsAtMs }: Task) {
  const { plane } = stage;
  const ignores = chance.odds(0.4);
  const expects = { mode: 'revoke-key' as const, ignores };
  const common = { 'ignore-not-found': ignores ? 'true' : '' };
  const keys = chance.times(chance.pick([1, 2, 3, 9]), (index) =>
    plane.addKey(index === 0 ? 'ci' : chance.pick(['ci', 'deploy', 'deploy'])),
  );
  chance.times(chance.pick([0, 2]), () => plane.addKey('kept'));
  for (const { id } of keys) if (chance.odds(0.15)) plane.revokeKey(id);
  const events = keys.flatMap(({ id }) =>
    chance.sometimes(0.1, () => revocation(startsAtMs + chance.upTo(3_000), `key ${id}`, () => id)),
  );
  if (chance.odds(0.45)) {
    const ids = [...keys.map(({ id }) => id), ...chance.sometimes(0.1, () => '424242424242')];
    const inputs = { ...common, 'key-id': chance.odds(0.5) ? JSON.stringify(ids) : ids.join(' ') };
    return { inputs, expects: { ...expects, ids, name: undefined }, events };
  }
  const name = chance.pick(['ci', 'deploy', 'nobody']);
  events.push(...chance.sometimes(0.2, () => makeKey(1, 'ci')));
  return { inputs: { ...common, 'key-name': name }, expects: { ...expects, ids: undefined, name }, events };
}

/** Keys of many runs, and the state of each run, which GitHub may not show. */
export function drawRuns(chance: Chance, { plane }: Stage): Map<string, GitHubRun> {
  const runs = new Map<string, GitHubRun>();
  const hidden = { times: 0, hiddenAfter: chance.from(0, 6) };
  const own = chance.pick<Lookups>([clear, clear, clear, clear, hidden, hidden, refused, silent]);
  runs.set(ownRun, { state: { attempt: 1, isCompleted: false }, ...own });
  for (let left = chance.pick([1, 2, 4, 8]); left > 0; left--) {
    const id = chance.odds(0.15) ? ownRun : String(7_000 + chance.below(600));
    const attempt = chance.pick([1, 1, 2]);
    const fingerprint = chance.odds(0.2) ? fingerprintOf('6') : ownFingerprint;
    const label = chance.pick(['shop', 'shop', 'a-kept', 'a-run7']);
    const origin = { run: { id, attempt, fingerprint }, isKept: chance.odds(0.2) };
    const name = makeKeyName(label, origin, chance.random);
    plane.addKeyOfAge(name, chance.pick([0, hour / 2, 20 * hour, 30 * 24 * hour, 36 * 24 * hour]));
    if (!runs.has(id)) runs.set(id, drawGitHubRun(chance));
  }
  // The shape of our names, of another repository.
  if (chance.odds(0.5)) plane.addKey('shop-run7001-1-abcdefghij-abcdefghijkl');
  chance.times(chance.pick([0, 2]), () => plane.addKey('shop-deploy'));
  return runs;
}

export function drawSweep(chance: Chance, _stage: Stage, { startsAtMs }: Task) {
  const dryRun = chance.odds(0.15);
  const failsOnMatch = chance.odds(0.2);
  return {
    inputs: { 'github-token': githubToken, 'dry-run': dryRun ? 'true' : '', 'fail-on': failsOnMatch ? 'match' : '' },
    expects: { mode: 'sweep-keys' as const, dryRun, failsOnMatch, olderThanMs: 35 * 24 * hour },
    events: chance.sometimes(0.1, () => revocation(startsAtMs + chance.upTo(2_000), 'the newest key', newestKey)),
  };
}

type Lookups = Omit<GitHubRun, 'state'>;

const clear: Lookups = { times: 0 };
const silent: Lookups = { first: 'hangs', times: Number.POSITIVE_INFINITY };
const refused: Lookups = { first: failure(403), times: Number.POSITIVE_INFINITY };

function failure(status: number): LookupFailure {
  return { message: `GitHub responded with status ${status}`, status, transient: status !== 403 };
}

function drawGitHubRun(chance: Chance): GitHubRun {
  const state = chance.pick<GitHubRun['state']>([
    { attempt: 1, isCompleted: true },
    { attempt: 1, isCompleted: true },
    { attempt: 1, isCompleted: false },
    { attempt: 2, isCompleted: false },
    { attempt: 3, isCompleted: true },
    'gone',
  ]);
  const unclear = chance.pick<Lookups>([
    { first: failure(502), times: chance.pick([1, 2, 99]) },
    { first: { ...failure(429), retryAfterMs: chance.below(9_000) }, times: chance.pick([1, 99]) },
    { first: 'gone', times: 1 },
    { first: 'gone', times: 1 },
    silent,
    refused,
  ]);
  return { state, ...(chance.odds(0.6) ? clear : unclear) };
}
