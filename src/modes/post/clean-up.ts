import type { ControlApi } from '../../api/control-api.js';
import type { PostState } from '../../keys/post-state.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { type CreatedKey, KeyRegister } from './key-register.js';
import { revokeMinted } from './revoke-minted.js';
import { Rounds } from './rounds.js';
import { lastRoundBeforeEnd, timeForFirstSearch, timeForRevocation, youngAge } from './schedule.js';
import { searchStrays } from './search-strays.js';

interface Clients {
  /** Undefined if the state has no minted key. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Set only if the parent key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export interface CleanUpResult {
  readonly revoked: readonly CreatedKey[];
  /** Ids of keys that may still be valid. */
  readonly unconfirmed: readonly string[];
  /** True if a key with an unknown id may still be valid. */
  readonly mayHaveStrayKey: boolean;
  /** The reason why a key may still be valid. Undefined if all keys are confirmed to be gone. */
  readonly failure: unknown;
}

/** The post step has no API key that can list keys. */
export class NoCredential extends Error {
  override readonly message = 'the API key of the main step is not available in the post step';
}

/**
 * Revokes the keys that the main step created, in three phases. After an ambiguous create, the minted key searches for stray
 * keys. Then the minted key is revoked. Then the parent key continues the search.
 */
export async function cleanUp(
  { name, mayHaveStrayKey, revoke, since }: Pick<PostState, 'name' | 'mayHaveStrayKey' | 'revoke' | 'since'>,
  { minted, parent }: Clients,
  { deadline, log, random }: Omit<Collaborators, 'api'>,
): Promise<CleanUpResult> {
  const rounds = new Rounds(deadline, random);
  const register = new KeyRegister(name, deadline.clock, log);
  const key =
    minted !== undefined && revoke ? register.add(minted.id, deadline.clock.epochMs() - since < youngAge) : undefined;
  let searchFailure: unknown;
  let mintedFailure: unknown;

  if (mayHaveStrayKey && minted !== undefined) {
    searchFailure = await searchStrays(register, rounds, {
      api: minted.api,
      phase: deadline.within(timeForFirstSearch(deadline.remaining, key !== undefined)),
      lastRoundBeforeEnd: lastRoundBeforeEnd.ofMinted,
      except: minted.id,
    });
  }
  if (minted !== undefined && key !== undefined) {
    const isSearchedAfter = mayHaveStrayKey && parent !== undefined;
    const phase = deadline.within(timeForRevocation(deadline.remaining, rounds.retryAfterMs, isSearchedAfter));
    const access = { minted: minted.api, parent, repeatsRejected: mayHaveStrayKey };
    mintedFailure = await revokeMinted(key, register, access, phase, rounds);
  }
  // If the minted key is kept, the first search could use all of the time. So a second search helps only if the first one
  // read an incomplete list.
  if (mayHaveStrayKey && parent !== undefined && (key !== undefined || !register.isComplete)) {
    searchFailure = await searchStrays(register, rounds, {
      api: parent,
      phase: deadline,
      lastRoundBeforeEnd: lastRoundBeforeEnd.ofParent,
      except: key === undefined ? minted?.id : undefined,
    });
  }

  const unconfirmed = register.pending.map(({ id }) => id);
  const isStrayLeft = mayHaveStrayKey && !register.isComplete;
  const isMintedLeft = key !== undefined && unconfirmed.includes(key.id);
  const reason = (isMintedLeft ? mintedFailure : undefined) ?? searchFailure ?? new NoCredential();
  const isLate = deadline.isExpired && !(reason instanceof DeadlineExceeded);
  const failure = isLate ? new DeadlineExceeded(reason) : reason;
  return {
    revoked: register.gone,
    unconfirmed,
    mayHaveStrayKey: isStrayLeft,
    failure: unconfirmed.length > 0 || isStrayLeft ? failure : undefined,
  };
}
