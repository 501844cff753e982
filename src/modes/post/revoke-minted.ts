import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import type { Revocation } from '../../keys/revocation.js';
import type { Deadline } from '../../time/deadline.js';
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
  revocation: Revocation,
  { minted, parent, repeatsRejected }: Access,
  phase: Deadline,
  rounds: Rounds,
): Promise<unknown> {
  /** The response that rejected the minted key. After a rejection, the parent key revokes the minted key. */
  let rejection: RequestError | undefined;
  /** True once the parent key's list of keys gave no sign that the id now belongs to another key. */
  let mayBeOurs = false;

  async function attempt(): Promise<Round> {
    if (rejection === undefined || parent === undefined) {
      // A request gets half of the remaining time. If the request hangs, there is time for a second one.
      const shortened = minted.withRequestTimeout(Math.max(minRequestTimeout, phase.remaining / 2));
      const failure = await captureFailure(revocation.attempt(shortened, phase, rounds.listCheck(minted, phase)));
      if (failure === undefined || !(failure.isPermanent || failure.isServiceStatus(404))) return { failure };
      if (parent === undefined) {
        // A 401 means that the minted key is gone. To confirm this, the step would need the parent key.
        if (failure.isServiceStatus(401)) return { failure: undefined };
        return { failure, isFinal: failure.isPermanent && !repeatsRejected };
      }
      rejection = failure;
    }
    const failure = await captureFailure(revokeByParent(parent, rejection));
    // If both keys get 401, the service may be at fault, so a retry can help.
    return { failure, isFinal: failure?.isPermanent === true && !failure.isServiceStatus(401) };
  }

  async function revokeByParent(api: ControlApi, cause: RequestError): Promise<void> {
    const isListed = rounds.listCheck(api, phase);
    if (!mayBeOurs) {
      // By now the id may belong to another key, which must not be revoked. So the list is read first. If the list cannot be
      // read, the key is revoked anyway, except after a 401: the minted key was most likely gone before that response.
      const listed = await isListed(revocation.key).catch((error: unknown) => {
        if (!(error instanceof RequestError) || cause.isServiceStatus(401) || endsRound(error)) throw error;
        return 'unknown' as const;
      });
      if (listed === false) return;
      mayBeOurs = true;
    }
    await revocation.attempt(api, phase, isListed);
  }

  async function round(): Promise<Round> {
    const result = await attempt();
    if (result.failure !== undefined) rounds.note(result.failure);
    return result;
  }

  return rounds.repeat(round, phase, Number.POSITIVE_INFINITY);
}
