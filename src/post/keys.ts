import type { ControlApi } from '../api/control-api.js';
import type { Key } from '../api/records.js';
import { RequestError } from '../http/errors.js';
import type { Send } from '../http/retry.js';
import type { MintedKey, PostState } from '../keys/post-state.js';
import { type RevocationTask, revokeKeys } from '../keys/revocation.js';
import { type Deadline, DeadlineExceeded, doublingPauses } from '../time/deadline.js';

// Times are in milliseconds.

/** A replica may not know a key that is younger. */
const leastAge = 10_000;
/** Without a parent key, the key counts as gone if it gets 401 for this time. */
const leastRejection = 10_000;
/** One exchange gets this time. */
const patience = 6_000;
/** A longer `Retry-After` counts as this. */
export const longestRetryAfter = 2_000;
const pauses = { first: 50, most: 2_000 };

/**
 * Sends DELETEs for the minted key until one that uses the key itself gets 401. Returns undefined if the key is proved gone,
 * else the reason for doubt. `parent`: undefined if post does not have the key that signed the state.
 */
export async function endMintedKey(
  { id, madeAt }: MintedKey,
  { own, parent }: { readonly own: ControlApi; readonly parent: ControlApi | undefined },
  deadline: Deadline,
  random: () => number,
): Promise<string | undefined> {
  const { clock } = deadline;
  /** A DELETE was accepted, or the parent key got a 404 for a key that was old enough. So a 401 is believed. */
  let isExpectedGone = false;
  let rejectedSince: number | undefined;
  let doubt = 'no response came';

  /** By both clocks. Where the service's is not known, the time of this step replaces it. */
  function ageOf(): number {
    const now = own.knownServiceEpochMs(clock) ?? parent?.knownServiceEpochMs(clock);
    const isKnown = madeAt.service !== undefined && now !== undefined;
    return Math.min(clock.epochMs() - madeAt.runner, isKnown ? now - madeAt.service : clock.now());
  }

  /** Returns the status of the service's answer. Undefined if none came, or only that of a proxy. */
  async function revokeBy(api: ControlApi): Promise<number | undefined> {
    try {
      await api.revokeKey(id, { deadline, patience });
      doubt = 'the key still works after a DELETE that was accepted';
      return 200;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      doubt = error.message;
      await deadline.sleep(Math.min(longestRetryAfter, error.retryAfterMs ?? 0));
      return error.isPage ? undefined : error.status;
    }
  }

  const isAccepted = (status = 0) => status >= 200 && status < 300;

  /** Returns true if the key is gone. */
  async function round(): Promise<boolean> {
    const askedAt = clock.now();
    const isOld = ageOf() >= leastAge;
    const status = await revokeBy(own);
    const isRejected = status === 401 && isOld;
    if (isRejected && isExpectedGone) return true;
    isExpectedGone ||= isAccepted(status);
    // A response of a proxy, or none, says nothing about the key.
    if (isRejected) rejectedSince ??= askedAt;
    else if (status !== undefined && status < 500) rejectedSince = undefined;
    if (parent === undefined) return rejectedSince !== undefined && askedAt - rejectedSince >= leastRejection;
    if (isAccepted(status) || (status === 401 && isExpectedGone)) return false;
    // A gateway may have sent a 404, so the key itself must say 401 after it.
    const byParent = await revokeBy(parent);
    isExpectedGone ||= isAccepted(byParent) || (byParent === 404 && isOld);
    return false;
  }

  try {
    for (const pause of doublingPauses(pauses, random)) {
      if (await round()) break;
      const untilOld = isExpectedGone ? Math.min(leastAge, leastAge - ageOf()) : 0;
      await deadline.sleep(Math.max(untilOld, pause));
    }
    return undefined;
  } catch (error) {
    if (error instanceof DeadlineExceeded) return doubt;
    throw error;
  }
}

type Means = Pick<RevocationTask, 'api' | 'rate' | 'deadline' | 'random'>;

/** Revokes all keys of that name but the minted one. Looks for them until as many were found as creates were lost. */
export async function endStrayKeys({ name, minted, lostCreates: count }: PostState, means: Means) {
  const { deadline, random } = means;
  const find = (listed: readonly Key[]) =>
    listed.filter((key) => key.name === name && key.id !== minted?.id).map(({ id }) => id);
  /** Repeats a list after any failure. */
  const send: Send = async (attempt) => {
    for (;;) {
      try {
        return await attempt({ deadline, patience });
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const retryAfter = Math.min(longestRetryAfter, error.retryAfterMs ?? 0);
        await deadline.sleep(Math.max(retryAfter, 500 + 1_000 * random()));
      }
    }
  };
  return (await revokeKeys({ ...means, send, patience, find, count })).keys;
}
