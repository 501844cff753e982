import { runAndAttempt } from '../../../src/action/inputs/workflow-run.js';
import { makeKeyName } from '../../../src/keys/key-name.js';
import { type PostState, serializePostState } from '../../../src/keys/post-state.js';
import type { Chance } from '../chance.js';
import type { Forgery, Interruption } from '../plan.js';
import { epoch, origin, type Stage } from '../stage.js';

const trueUrl = `${origin}/v2`;
const thief = 'https://thief.test';
/** Addresses that a forger may want keys at, and whether main would accept them. */
const addresses = [
  [`${thief}/v2`, thief],
  [`${thief}/v2`, thief],
  [trueUrl, origin],
  ['http://thief.test/v2', undefined],
  ['https://user@thief.test/v2', undefined],
  [`${thief}/v2?x=1`, undefined],
] as const;

/** A state that another step forges from what it can read; never one that main sealed in this attempt of this run. */
export function drawForgery(
  chance: Chance,
  { plane }: Stage,
  environment: Readonly<Record<string, string>>,
): Forgery | undefined {
  if (!chance.odds(0.05)) return undefined;
  const [baseUrl, mayBeSentTo] = chance.pick(addresses);
  const id = chance.pick(['7', '424242', '7/../projects']);
  const minted = chance.odds(0.5) ? { id, secret: 'forged-0123456789abcdef' } : undefined;
  const state: PostState = {
    baseUrl,
    name: makeKeyName('shop', { run: { id: '7700', attempt: 1, fingerprint: '0' }, isKept: false }, chance.random),
    mayHaveStrayKey: minted === undefined || chance.odds(0.3),
    minted,
    since: epoch,
    revoke: true,
    onFailure: chance.pick(['warn', 'fail']),
    summary: true,
  };
  const own = runAndAttempt(environment);
  const otherRun = runAndAttempt({ ...environment, GITHUB_RUN_ID: '7699' });
  const otherAttempt = runAndAttempt({ ...environment, GITHUB_RUN_ATTEMPT: '2' });
  const text = chance.pick<() => string>([
    () => JSON.stringify(state),
    () => `${'0'.repeat(chance.pick([1, 64, 5_000]))}${JSON.stringify(state)}`,
    () => serializePostState(state, 'the-key-of-the-forger', own),
    () => serializePostState(state, plane.apiKey, otherRun),
    () => serializePostState(state, plane.apiKey, otherAttempt),
    // Copied from another step, with another address; without one it would be no forgery.
    () =>
      serializePostState({ ...state, baseUrl: trueUrl }, plane.apiKey, own).replace(
        trueUrl,
        baseUrl === trueUrl ? `${trueUrl}/` : baseUrl,
      ),
  ])();
  return { text, secret: minted?.secret, mayBeSentTo };
}

/** Killed before it saved a state: the runner hands the forged one to post. */
export function killedBeforeItsState(chance: Chance): Interruption {
  return { what: 'kill', moment: { on: 'word', nth: chance.pick([1, 2]) } };
}
