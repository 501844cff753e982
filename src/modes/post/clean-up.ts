import type { ControlApi } from '../../api/control-api.js';
import type { PostState } from '../../keys/post-state.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { KeyRegister, type RevokedKey } from './key-register.js';
import { revokeMinted } from './revoke-minted.js';
import { Rounds } from './rounds.js';
import { lastRoundBeforeEnd, timeForFirstSearch, timeForRevocation } from './schedule.js';
import { searchStrays } from './search-strays.js';

type CleanUpState = Pick<PostState, 'name' | 'mayHaveStrayKey' | 'revoke' | 'since'>;

interface Credentials {
  /** Uses the minted key. Undefined if the state holds none. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Uses the parent key. Undefined unless that key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export interface CleanUpResult {
  readonly revoked: readonly RevokedKey[];
  /** Ids of keys that are not confirmed as gone. */
  readonly unconfirmed: readonly string[];
  /** True if there may be a key whose id is unknown. */
  readonly mayHaveStrayKey: boolean;
  /** Why a key may still be alive. Undefined if every key is confirmed as gone. */
  readonly failure: unknown;
}

/** Post has no key that it could search with. */
export class NoCredential extends Error {
  constructor() {
    super('the API key of the main step is not available in the post step');
  }
}

/**
 * Revokes the keys that the main step created. If a create failed but may have made a key, the minted key is first used to
 * search for that key. Then the minted key is revoked, and the search goes on with the parent key. A failed request does not
 * throw: the result names the keys that may still be alive.
 */
export async function cleanUp(
  { name, mayHaveStrayKey, revoke, since }: CleanUpState,
  { minted, parent }: Credentials,
  { deadline, log, random }: Omit<Collaborators, 'api'>,
): Promise<CleanUpResult> {
  const rounds = new Rounds(deadline, random);
  const register = new KeyRegister(name, log);
  const key = minted !== undefined && revoke ? register.add(minted.id, since) : undefined;
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
    mintedFailure = await revokeMinted(key.revocation, access, phase, rounds);
    if (mintedFailure === undefined) register.setGone(key);
  }
  // If the minted key is kept, the search with it has used all the time, unless no complete list was read.
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
    revoked: register.revoked,
    unconfirmed,
    mayHaveStrayKey: isStrayLeft,
    failure: unconfirmed.length > 0 || isStrayLeft ? failure : undefined,
  };
}
