import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';
import type { CreatedKey, KeyRegister } from './key-register.js';
import { captureFailure, endsRound, type Round, type Rounds } from './rounds.js';

/** A slow service needs at least this long for a request. In milliseconds. */
const minRequestTimeout = 1_000;

interface Access {
  readonly minted: ControlApi;
  readonly parent: ControlApi | undefined;
  /** True if a rejected request is repeated until the phase ends. */
  readonly repeatsRejected: boolean;
}

/** Returns undefined if the minted key is confirmed to be gone. Otherwise returns the failure of the last round. */
export function revokeMinted(
  key: CreatedKey,
  register: KeyRegister,
  { minted, parent, repeatsRejected }: Access,
  phase: Deadline,
  rounds: Rounds,
): Promise<unknown> {
  const { revocation } = key;

  async function attempt(): Promise<Round> {
    // A request gets half of the remaining time. If the request hangs, there is time for a second one.
    const shortened = minted.withRequestTimeout(Math.max(minRequestTimeout, phase.remaining / 2));
    const rejection = await captureFailure(revocation.attempt(shortened, phase, rounds.listCheck(minted, phase, key)));
    if (rejection === undefined || !(rejection.isPermanent || rejection.isServiceStatus(404)))
      return { failure: rejection };
    if (parent === undefined) {
      // A 401 means that the minted key is gone. To confirm this, the step would need the parent key.
      if (rejection.isServiceStatus(401)) return { failure: undefined };
      return { failure: rejection, isFinal: rejection.isPermanent && !repeatsRejected };
    }
    const failure = await captureFailure(revokeByParent(parent, rejection));
    // If both keys get 401, the service may be at fault, so a retry can help.
    return { failure, isFinal: failure?.isPermanent === true && !failure.isServiceStatus(401) };
  }

  async function revokeByParent(api: ControlApi, rejection: RequestError): Promise<void> {
    const isListed = rounds.listCheck(api, phase, key);
    // By now the id may belong to another key, which must not be revoked. So the list is read first. If the list cannot be
    // read, the key is revoked anyway, except after a 401: the minted key was most likely gone before that response.
    const listed = await isListed(revocation.key).catch((error: unknown) => {
      if (!(error instanceof RequestError) || rejection.isServiceStatus(401) || endsRound(error)) throw error;
    });
    if (listed !== false) await revocation.attempt(api, phase, isListed);
  }

  /** Each round begins with the minted key again: a replica that did not know the key may know it now. */
  async function round(): Promise<Round> {
    const result = await attempt();
    const failure = result.failure ?? register.noteGone(key);
    if (failure !== undefined) rounds.note(failure);
    return { ...result, failure };
  }

  return rounds.repeat(round, phase, Number.POSITIVE_INFINITY);
}
