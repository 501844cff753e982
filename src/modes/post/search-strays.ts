import type { ControlApi } from '../../api/control-api.js';
import { noRetry } from '../../http/retry.js';
import { incompleteKeyList, mapConcurrently } from '../../keys/revocation.js';
import type { Deadline } from '../../time/deadline.js';
import type { CreatedKey, KeyRegister } from './key-register.js';
import { captureFailure, endsRound, type Round, type Rounds } from './rounds.js';

interface Search {
  readonly api: ControlApi;
  readonly phase: Deadline;
  readonly lastRoundBeforeEnd: number;
  /** The id of a key to skip. */
  readonly except: string | undefined;
}

/** Searches for keys from ambiguous creates, and revokes them. Returns the failure of the last round. */
export function searchStrays(
  register: KeyRegister,
  rounds: Rounds,
  { api, phase, lastRoundBeforeEnd, except }: Search,
): Promise<unknown> {
  async function round(): Promise<Round> {
    const failure = await captureFailure(readList());
    if (failure !== undefined) {
      register.isComplete = false;
      rounds.note(failure);
      if (endsRound(failure)) return { failure };
      // The service rejects this API key, so a retry cannot help.
      if (failure.isPermanent) return { failure, isFinal: true };
    }
    const strays = register.pending.filter(({ isListed }) => isListed);
    const failures = await mapConcurrently(strays, revoke);
    return { failure: failures.find((one) => one !== undefined) ?? failure };
  }

  async function readList(): Promise<void> {
    const list = await api.keys({ deadline: phase, retry: noRetry });
    register.update(list, except);
    if (list.missing !== undefined) throw incompleteKeyList();
  }

  async function revoke(key: CreatedKey): Promise<Round['failure']> {
    const { clock } = phase;
    if (key.lock !== undefined && key.lock.until > clock.now()) return key.lock.failure;
    const isListed = rounds.listCheck(api, phase, key);
    const failure = (await captureFailure(key.revocation.attempt(api, phase, isListed))) ?? register.noteGone(key);
    // A 423 delays only one key, so the search continues for the other keys.
    if (failure?.status === 423 && !rounds.isTooLong(failure))
      key.lock = { until: clock.now() + (failure.retryAfterMs ?? 0), failure };
    else if (failure !== undefined) rounds.note(failure);
    return failure;
  }

  return rounds.repeat(round, phase, lastRoundBeforeEnd);
}
