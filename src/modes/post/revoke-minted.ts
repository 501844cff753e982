import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import type { Revocation } from '../../keys/revocation.js';
import type { Deadline } from '../../time/deadline.js';
import { captureFailure, endsRound, type Round, type Rounds } from './rounds.js';

/** Milliseconds. Each request gets at least this, so that a slow service is not cut off. Two fit into `timeForMinted`. */
const minRequestTimeout = 1_000;

interface Access {
  readonly minted: ControlApi;
  readonly parent: ControlApi | undefined;
  /** Whether to repeat even what the service rejects: nothing else is left to do in that time. */
  readonly repeatsRejected: boolean;
}

/**
 * The minted key revokes itself. The parent key revokes it only if the service rejects the minted key. Returns undefined
 * if the key is confirmed as gone, else the failure of the last round.
 */
export function revokeMinted(
  revocation: Revocation,
  { minted, parent, repeatsRejected }: Access,
  phase: Deadline,
  rounds: Rounds,
): Promise<unknown> {
  /** Set once the service rejects the minted key. */
  let handover: { readonly parent: ControlApi; readonly rejection: RequestError } | undefined;
  /** True once the parent key has looked for another key with this id, and found none or could not read the list. */
  let mayBeOurs = false;

  async function attempt(): Promise<Round> {
    if (handover === undefined) {
      // Half of the remaining time, so that one exchange that hangs leaves time for another.
      const shortened = minted.withRequestTimeout(Math.max(minRequestTimeout, phase.remaining / 2));
      const failure = await captureFailure(revocation.attempt(shortened, phase, rounds.listCheck(minted, phase)));
      if (failure === undefined || !(failure.isPermanent || failure.isServiceStatus(404))) return { failure };
      if (parent === undefined) {
        // A key that gets 401 is gone. The list would be better proof, but only the parent key could read it.
        if (failure.isServiceStatus(401)) return { failure: undefined };
        return { failure, isFinal: failure.isPermanent && !repeatsRejected };
      }
      handover = { parent, rejection: failure };
    }
    const failure = await captureFailure(revokeByParent(handover));
    // A 401 for both keys may be a fault of the service, so it is retried.
    return { failure, isFinal: failure?.isPermanent === true && !failure.isServiceStatus(401) };
  }

  async function revokeByParent({ parent, rejection }: NonNullable<typeof handover>): Promise<void> {
    const isListed = rounds.listCheck(parent, phase);
    if (!mayBeOurs) {
      // The id may belong to another key by now, which must not be touched. After a 401 the minted key is most likely
      // gone, so this check must succeed. In other cases an unreadable list does not matter.
      const listed = await isListed(revocation.key).catch((error: unknown) => {
        if (!(error instanceof RequestError) || rejection.isServiceStatus(401) || endsRound(error)) throw error;
        return 'unknown' as const;
      });
      if (listed === false) return;
      mayBeOurs = true;
    }
    await revocation.attempt(parent, phase, isListed);
  }

  async function round(): Promise<Round> {
    const result = await attempt();
    if (result.failure !== undefined) rounds.note(result.failure);
    return result;
  }

  return rounds.repeat(round, phase, Number.POSITIVE_INFINITY);
}
