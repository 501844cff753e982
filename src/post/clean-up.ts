import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/request.js';
import { RequestError, UserError } from '../http/errors.js';
import { isAmbiguous, type PostState } from '../keys/post-state.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { type CreatedKey, KeyRegister } from './key-register.js';
import { captureFailure, endsRound, expectRequestError, type PhaseFailure, type Round, Rounds } from './rounds.js';
import { lastRoundBeforeEnd, requestTimeout, timeForMinted, timeForRevocation, youngAge } from './schedule.js';

const noKey =
  'the API key of the main step is not available in the post step, or another step changed the saved state, a proxy variable or NODE_EXTRA_CA_CERTS';

interface Clients {
  /** Undefined if the state has no minted key. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Set only if the parent key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export type CleanUpResult = Awaited<ReturnType<typeof cleanUp>>;

/** Runs three phases: the minted key searches for stray keys, then it is revoked, then the parent key goes on with the search. */
export async function cleanUp(
  state: PostState,
  { minted, parent }: Clients,
  { deadline, log, random }: { readonly deadline: Deadline; readonly log: Log; readonly random: () => number },
) {
  const { name, unconfirmedKeyIds, revoke, since } = state;
  const wasAmbiguous = isAmbiguous(state);
  const rounds = new Rounds(deadline, random);
  const register = new KeyRegister(name, deadline.clock, log);
  // The service may have reused the id of a found key for the minted one.
  for (const id of unconfirmedKeyIds) if (id !== minted?.id) register.add(id, true);
  // The minted key sends the requests of the search, so the search must not revoke it.
  register.skipped = minted?.id;
  const mintedKey =
    minted !== undefined && revoke ? register.add(minted.id, deadline.clock.epochMs() - since < youngAge) : undefined;
  let searchFailure: PhaseFailure;
  let mintedFailure: PhaseFailure;

  if (wasAmbiguous && minted !== undefined) {
    const phase = deadline.within(deadline.remaining - (mintedKey === undefined ? 0 : timeForMinted));
    searchFailure = await searchStrays(register, rounds, minted.api, phase, lastRoundBeforeEnd.ofMinted);
  }
  if (minted !== undefined && mintedKey !== undefined) {
    const isSearchedAfter = wasAmbiguous && parent !== undefined;
    const phase = deadline.within(timeForRevocation(deadline.remaining, rounds.cooldown.remaining, isSearchedAfter));
    const clients = { minted: minted.api, parent, wasAmbiguous };
    mintedFailure = await revokeMinted(mintedKey, register, clients, phase, rounds);
    register.skipped = undefined;
  }
  // A response to a create can name a wrong id. Then the list shows the real key: the same name with a different id.
  const mayHaveStrays = wasAmbiguous || register.pending.some((one) => one !== mintedKey);
  // If the minted key is kept, the first search had all of the time. Then a second one helps only after an incomplete list.
  if (mayHaveStrays && parent !== undefined && (mintedKey !== undefined || !register.isComplete)) {
    searchFailure = await searchStrays(register, rounds, parent, deadline, lastRoundBeforeEnd.ofParent);
  }

  const unconfirmed = register.pending.map(({ id }) => id);
  const isStrayLeft = wasAmbiguous && !register.isComplete;
  const isMintedLeft = mintedKey !== undefined && unconfirmed.includes(mintedKey.id);
  const reason = (isMintedLeft ? mintedFailure : undefined) ?? searchFailure ?? new UserError(noKey);
  const isLate = deadline.isExpired && !(reason instanceof DeadlineExceeded);
  const failure = isLate ? new DeadlineExceeded(reason) : reason;
  return {
    revoked: register.gone,
    /** Ids of keys that may still be valid. */
    unconfirmed,
    /** True if an unconfirmed id may belong to another key by now. */
    mayBelongToOther: unconfirmed.some((id) => register.mayBelongToOther(id)),
    /** True if a key with an unknown id may still be valid. */
    mayHaveStrayKey: isStrayLeft,
    /** The reason why a key may still be valid. Undefined if all keys are confirmed to be gone. */
    failure: unconfirmed.length > 0 || isStrayLeft ? failure : undefined,
  };
}

function searchStrays(
  register: KeyRegister,
  rounds: Rounds,
  api: ControlApi,
  phase: Deadline,
  lastRoundBeforeEnd: number,
): Promise<PhaseFailure> {
  const send = rounds.readList(phase);

  async function round(): Promise<Round> {
    const failure = await captureFailure(readList());
    if (failure !== undefined) {
      register.isComplete = false;
      if (endsRound(failure)) return { failure };
      // The service rejects this API key, so a retry cannot help.
      if (failure.isPermanent) return { failure, isFinal: true };
    }
    const failures = await Promise.all(register.revocable.map(revoke));
    return { failure: failures.find((one) => one !== undefined) ?? failure };
  }

  async function readList(): Promise<void> {
    const began = phase.clock.now();
    register.update(await api.keys(send), began);
  }

  const patient = { deadline: phase, patience: requestTimeout };

  async function revoke(key: CreatedKey): Promise<Round['failure']> {
    if (key.lock.cause !== undefined) return key.lock.cause;
    const began = phase.clock.now();
    const revoking = key.revocation.attempt(api, patient, register.listCheck(key, api, send));
    const failure = (await captureFailure(revoking)) ?? register.noteGone(key, began);
    if (failure === undefined) return undefined;
    // A 423 delays only one key, so the search continues for the other keys.
    const delaysOne = failure.status === 423 && (failure.retryAfterMs ?? 0) <= rounds.deadline.remaining;
    (delaysOne ? key.lock : rounds.cooldown).note(failure);
    return failure;
  }

  return rounds.repeat(round, phase, lastRoundBeforeEnd);
}

/** No request gets a shorter timeout, because the service may be slow. In milliseconds. */
const minRequestTimeout = 1_000;

/** The minted key revokes itself. If the service rejects that, the parent key revokes it. */
function revokeMinted(
  key: CreatedKey,
  register: KeyRegister,
  clients: { readonly minted: ControlApi; readonly parent: ControlApi | undefined; readonly wasAmbiguous: boolean },
  phase: Deadline,
  rounds: Rounds,
): Promise<PhaseFailure> {
  const { minted, parent, wasAmbiguous } = clients;
  const { revocation } = key;
  const send = rounds.readList(phase);

  /** Each round begins with the minted key again: a replica that did not know the key may know it now. */
  async function round(): Promise<Round> {
    const began = phase.clock.now();
    // A request gets half of the remaining time. If the request hangs, there is time for a second one.
    const patience = Math.min(requestTimeout, Math.max(minRequestTimeout, phase.remaining / 2));
    const doubt = await revocation.send(minted, { deadline: phase, patience }).catch(expectRequestError);
    const isRejected = doubt !== undefined && (doubt.isPermanent || doubt.isServiceStatus(404));
    const result = isRejected ? await afterRejection(doubt) : { failure: doubt };
    const failure = result.failure ?? register.noteGone(key, began);
    if (failure !== undefined) rounds.cooldown.note(failure);
    return { ...result, failure };
  }

  async function afterRejection(rejection: RequestError): Promise<Round> {
    if (parent !== undefined) {
      const failure = await revokeByParent(parent, rejection);
      // If both keys get 401 or 404, a later round may help: a replica may not know the key yet.
      const mayPass = failure?.isServiceStatus(401) || failure?.isServiceStatus(404);
      return { failure, isFinal: failure?.isPermanent === true && !mayPass };
    }
    // By contract, this 401 counts as proof, because the step has no parent key to confirm it.
    if (rejection.isServiceStatus(401)) return { failure: undefined };
    const failure = new RequestError(`${rejection.message}; ${noKey}`, rejection, { cause: rejection });
    return { failure, isFinal: failure.isPermanent && !wasAmbiguous };
  }

  async function revokeByParent(api: ControlApi, rejection: RequestError): Promise<RequestError | undefined> {
    const isListed = register.listCheck(key, api, send);
    // By now the id may belong to another key, which must not be revoked. So the list is read first.
    const listed = await isListed(revocation.key).catch(expectRequestError);
    if (listed === false) return undefined;
    const isOthers = register.mayBelongToOther(key.id);
    // After a 401, the key is probably gone, so nothing is revoked unless a list shows the key. After any other rejection, it is
    // probably valid. Then it is revoked by its id if no list comes in time. By now another key may have this id, but a key
    // that stays valid is worse.
    if (listed !== true || isOthers) {
      const unclear = new RequestError('the list of keys does not show the key', { status: 200, transient: isOthers });
      const doubt = listed instanceof RequestError ? listed : unclear;
      const mayFollow = doubt.transient && phase.remaining > timeForMinted;
      if (isOthers || rejection.isServiceStatus(401) || endsRound(doubt) || mayFollow) return doubt;
    }
    return captureFailure(revocation.attempt(api, { deadline: phase, patience: requestTimeout }, isListed));
  }

  return rounds.repeat(round, phase, Number.POSITIVE_INFINITY);
}
