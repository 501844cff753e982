import { makeKeyName } from '../../../src/keys/key-name.js';
import type { KnownRun } from '../../kit/workflow-runs.js';
import type { Chance } from '../chance.js';
import { githubToken, type OutsideEvent, ownRun } from '../plan.js';
import type { Stage } from '../stage.js';
import { fingerprintOf, ownFingerprint } from '../truth.js';

const hour = 3_600_000;

function revocation(atMs: number, which: string, choose: (ids: string[]) => string | undefined): OutsideEvent {
  const run = (stage: Stage) => stage.revokeAsAnother(choose(stage.plane.aliveKeys().map(({ id }) => id)) ?? '');
  return { atMs, what: `${which} is revoked by another`, run };
}

export function drawCreateKey(chance: Chance, stage: Stage, startsAtMs: number) {
  const revokes = chance.odds(0.85);
  const soon = () => startsAtMs + chance.upTo(25_000);
  chance.times(chance.pick([0, 0, 2]), () => stage.plane.addKey('shop-deploy'));
  return {
    inputs: {
      'revoke-in-post': revokes ? '' : 'false',
      'on-revoke-failure': chance.odds(0.5) ? 'fail' : '',
    },
    expects: { mode: 'create-key' as const, revokes },
    events: [
      ...chance.sometimes(0.06, () => revocation(soon(), 'the parent key', ([parent]) => parent)),
      ...chance.sometimes(0.05, () => revocation(soon(), 'the newest key', ([, ...others]) => others.at(-1))),
    ],
  };
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

export function drawRevokeKey(chance: Chance, { plane }: Stage) {
  const ignores = chance.odds(0.4) ? 'true' : '';
  const keys = chance.times(chance.pick([1, 2, 3, 9]), (index) =>
    plane.addKey(index === 0 ? 'ci' : chance.pick(['ci', 'deploy', 'deploy'])),
  );
  chance.times(chance.pick([0, 2]), () => plane.addKey('kept'));
  for (const { id } of keys) if (chance.odds(0.15)) plane.revokeKey(id);
  const ids = [...keys.map(({ id }) => id), ...chance.sometimes(0.1, () => '424242424242')];
  const name = chance.pick([undefined, undefined, 'ci', 'deploy', 'nobody']);
  const meant = name === undefined ? { 'key-id': ids.join(' ') } : { 'key-name': name };
  return {
    inputs: { 'ignore-not-found': ignores, ...meant },
    expects: { mode: 'revoke-key' as const, ids: name === undefined ? ids : undefined, name },
    events: [],
  };
}

export function drawSweep(chance: Chance) {
  const dryRun = chance.odds(0.15);
  return {
    inputs: { 'github-token': githubToken, 'dry-run': dryRun ? 'true' : '' },
    expects: { mode: 'sweep-keys' as const, dryRun, olderThanMs: 35 * 24 * hour },
    events: [],
  };
}

/** Keys of many runs, and the state of each run, as GitHub shows it. */
export function drawRuns(chance: Chance, { plane }: Stage): Map<string, KnownRun> {
  const runs = new Map<string, KnownRun>();
  runs.set(ownRun, { attempt: 1, isCompleted: false });
  const drawRun = () =>
    chance.pick<KnownRun>([
      'gone',
      'hangs',
      ...[true, true, false].map((isCompleted) => ({ attempt: 1, isCompleted })),
    ]);
  for (let left = chance.pick([1, 2, 4, 8]); left > 0; left--) {
    const id = chance.odds(0.15) ? ownRun : String(7_000 + chance.below(600));
    const fingerprint = chance.odds(0.2) ? fingerprintOf('6') : ownFingerprint;
    const origin = { run: { id, attempt: chance.pick([1, 1, 2]), fingerprint }, isKept: chance.odds(0.2) };
    const name = makeKeyName(chance.pick(['shop', 'shop', 'a-kept', 'a-run7']), origin, chance.random);
    plane.addKeyOfAge(name, chance.pick([0, hour / 2, 20 * hour, 30 * 24 * hour, 36 * 24 * hour]));
    if (!runs.has(id)) runs.set(id, drawRun());
  }
  // The shape of our names, of another repository.
  if (chance.odds(0.5)) plane.addKey('shop-run7001-1-abcdefghij-abcdefghijkl');
  return runs;
}
