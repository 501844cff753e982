import type { ControlApi } from '../api/control-api.js';
import { RequestError } from '../http/errors.js';
import type { Deadline } from '../time/deadline.js';
import type { CreatedKey, KeyRegister } from './key-register.js';
import { captureFailure, endsRound, expectRequestError, type PhaseFailure, type Round, type Rounds } from './rounds.js';

/** A slow service needs at least this long for a request. In milliseconds. */
const minRequestTimeout = 1_000;

interface Access {
  readonly minted: ControlApi;
  readonly parent: ControlApi | undefined;
}

/** The minted key revokes itself. If the service rejects that, the parent key revokes it. */
export function revokeMinted(
  key: CreatedKey,
  register: KeyRegister,
  { minted, parent }: Access,
  phase: Deadline,
  rounds: Rounds,
): Promise<PhaseFailure> {
  const { revocation } = key;
  const policy = rounds.listPolicy(phase);

  /** Each round begins with the minted key again: a replica that did not know the key may know it now. */
  async function round(): Promise<Round> {
    const began = phase.clock.now();
    const own = await revokeByItself();
    const isRejected = own !== undefined && (own.isPermanent || own.isServiceStatus(404));
    const result = isRejected ? await afterRejection(own) : { failure: own };
    const failure = result.failure ?? register.noteGone(key, began);
    if (failure !== undefined) rounds.cooldown.note(failure);
    return { ...result, failure };
  }

  function revokeByItself(): Promise<RequestError | undefined> {
    // A request gets half of the remaining time. If the request hangs, there is time for a second one.
    const shortened = minted.withRequestTimeout(Math.max(minRequestTimeout, phase.remaining / 2));
    return captureFailure(revocation.attempt(shortened, phase, register.listCheck(key, minted, policy)));
  }

  async function afterRejection(rejection: RequestError): Promise<Round> {
    if (parent !== undefined) {
      const failure = await revokeByParent(parent, rejection);
      // If both keys get 401, the service may be at fault, so a retry can help.
      return { failure, isFinal: failure?.isPermanent === true && !failure.isServiceStatus(401) };
    }
    // A 401 means that the minted key is gone. To confirm this, the step would need the parent key.
    if (rejection.isServiceStatus(401)) return { failure: undefined };
    return { failure: rejection, isFinal: rejection.isPermanent && !register.mayHaveStrays };
  }

  async function revokeByParent(api: ControlApi, rejection: RequestError): Promise<RequestError | undefined> {
    const isListed = register.listCheck(key, api, policy);
    // By now the id may belong to another key, which must not be revoked. So the list is read first.
    const listed = await isListed(revocation.key).catch(expectRequestError);
    if (listed === false) return undefined;
    // A 401 suggests that the key is gone, so nothing is revoked without a list. Any other rejection suggests that the key
    // is valid. Then it is revoked by its id, although the id may have been used again: a key that stays valid is worse.
    if (listed instanceof RequestError && (rejection.isServiceStatus(401) || endsRound(listed))) return listed;
    return captureFailure(revocation.attempt(api, phase, isListed));
  }

  return rounds.repeat(round, phase, Number.POSITIVE_INFINITY);
}
