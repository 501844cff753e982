import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/request.js';
import { UserError } from '../http/errors.js';
import type { PostState } from '../keys/post-state.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { KeyRegister } from './key-register.js';
import { revokeMinted } from './revoke-minted.js';
import { type PhaseFailure, Rounds } from './rounds.js';
import { lastRoundBeforeEnd, timeForFirstSearch, timeForRevocation, youngAge } from './schedule.js';
import { searchStrays } from './search-strays.js';

interface Clients {
  /** Undefined if the state has no minted key. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Set only if the parent key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export type CleanUpResult = Awaited<ReturnType<typeof cleanUp>>;

/** In three phases: the minted key searches for stray keys, it is revoked, and the parent key continues the search. */
export async function cleanUp(
  { name, ambiguousCreates, unconfirmedKeyIds, revoke, since }: PostState,
  { minted, parent }: Clients,
  { deadline, log, random }: { readonly deadline: Deadline; readonly log: Log; readonly random: () => number },
) {
  const wasAmbiguous = ambiguousCreates > 0;
  const rounds = new Rounds(deadline, random);
  const register = new KeyRegister(name, deadline.clock, log, wasAmbiguous);
  for (const id of unconfirmedKeyIds) register.add(id, true);
  // The minted key sends the requests of the search, so the search must not revoke it.
  register.skipped = minted?.id;
  const key =
    minted !== undefined && revoke ? register.add(minted.id, deadline.clock.epochMs() - since < youngAge) : undefined;
  let searchFailure: PhaseFailure;
  let mintedFailure: PhaseFailure;

  if (wasAmbiguous && minted !== undefined) {
    const phase = deadline.within(timeForFirstSearch(deadline.remaining, key !== undefined));
    searchFailure = await searchStrays(register, rounds, minted.api, phase, lastRoundBeforeEnd.ofMinted);
  }
  if (minted !== undefined && key !== undefined) {
    const isSearchedAfter = wasAmbiguous && parent !== undefined;
    const phase = deadline.within(timeForRevocation(deadline.remaining, rounds.cooldown.remaining, isSearchedAfter));
    mintedFailure = await revokeMinted(key, register, { minted: minted.api, parent }, phase, rounds);
    register.skipped = undefined;
  }
  // If the minted key is kept, the first search could use all of the time. So a second search helps only if the first one
  // read an incomplete list.
  if (wasAmbiguous && parent !== undefined && (key !== undefined || !register.isComplete)) {
    searchFailure = await searchStrays(register, rounds, parent, deadline, lastRoundBeforeEnd.ofParent);
  }

  const unconfirmed = register.pending.map(({ id }) => id);
  const isStrayLeft = wasAmbiguous && !register.isComplete;
  const isMintedLeft = key !== undefined && unconfirmed.includes(key.id);
  const noKey = 'the API key of the main step is not available in the post step';
  const reason = (isMintedLeft ? mintedFailure : undefined) ?? searchFailure ?? new UserError(noKey);
  const isLate = deadline.isExpired && !(reason instanceof DeadlineExceeded);
  const failure = isLate ? new DeadlineExceeded(reason) : reason;
  return {
    revoked: register.gone,
    /** Ids of keys that may still be valid. */
    unconfirmed,
    /** True if a key with an unknown id may still be valid. */
    mayHaveStrayKey: isStrayLeft,
    /** The reason why a key may still be valid. Undefined if all keys are confirmed to be gone. */
    failure: unconfirmed.length > 0 || isStrayLeft ? failure : undefined,
  };
}
