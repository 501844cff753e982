import type { ControlApi } from '../api/control-api.js';
import { mapConcurrently } from '../http/map-concurrently.js';
import { exceededRetryAfter } from '../http/retry.js';
import { incompleteKeyList } from '../keys/revocation.js';
import type { Deadline } from '../time/deadline.js';
import type { CreatedKey, KeyRegister } from './key-register.js';
import { captureFailure, endsRound, type PhaseFailure, type Round, type Rounds } from './rounds.js';

/** Searches for keys from ambiguous creates, and revokes them. */
export function searchStrays(
  register: KeyRegister,
  rounds: Rounds,
  api: ControlApi,
  phase: Deadline,
  lastRoundBeforeEnd: number,
): Promise<PhaseFailure> {
  const policy = rounds.listPolicy(phase);

  async function round(): Promise<Round> {
    const failure = await captureFailure(readList());
    if (failure !== undefined) {
      register.isComplete = false;
      if (endsRound(failure)) return { failure };
      // The service rejects this API key, so a retry cannot help.
      if (failure.isPermanent) return { failure, isFinal: true };
    }
    const failures = await mapConcurrently(register.revocable, revoke);
    return { failure: failures.find((one) => one !== undefined) ?? failure };
  }

  async function readList(): Promise<void> {
    const began = phase.clock.now();
    const list = await api.keys(policy);
    register.update(list, began);
    if (list.missing !== undefined) throw incompleteKeyList(list.missing);
  }

  async function revoke(key: CreatedKey): Promise<Round['failure']> {
    if (key.lock.cause !== undefined) return key.lock.cause;
    const began = phase.clock.now();
    const revoking = key.revocation.attempt(api, phase, register.listCheck(key, api, policy));
    const failure = (await captureFailure(revoking)) ?? register.noteGone(key, began);
    if (failure === undefined) return undefined;
    // A 423 delays only one key, so the search continues for the other keys.
    const delaysOne = failure.status === 423 && exceededRetryAfter(failure, rounds.deadline) === undefined;
    (delaysOne ? key.lock : rounds.cooldown).note(failure);
    return failure;
  }

  return rounds.repeat(round, phase, lastRoundBeforeEnd);
}
