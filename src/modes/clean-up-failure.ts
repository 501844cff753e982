import { ApiError } from '../api/errors.js';
import { TimeUp } from '../time/limit.js';
import { type CleanedUp, NoCredential } from './clean-up.js';
import type { Trace } from './keys/trace.js';

/** Which key may be alive, why, and how to revoke it. Nothing is known where what main left cannot be read. */
export function whyNotCleanedUp({ revoked, failures }: CleanedUp, trace: Trace | undefined): string {
  const why = [...new Set(failures.map(reason))].join('; ');
  if (trace === undefined) {
    return `Whether a key is left could not be seen: ${why}. The mode sweep-keys finds and revokes it when this run is over.`;
  }
  const { minted, name, unclear, revoke } = trace;
  const isMintedLeft = minted !== undefined && revoke && !revoked.some(({ id }) => id === minted.id);
  const what = isMintedLeft
    ? `Key ${minted.id} (${name}) is not known to be revoked`
    : `A key of the name ${name} may have been left`;
  const how =
    isMintedLeft && !unclear
      ? `Revoke it in the console, or with mode: revoke-key and key-id: ${minted.id}`
      : `Look for the name in the console, or use mode: revoke-key with key-name: ${name}`;
  return `${what}: ${why}. ${how}; sweep-keys does it, too, when this run is over. Until then it can do all that the account can.`;
}

function reason(failure: unknown): string {
  if (failure instanceof NoCredential) return 'the key that main had is not at hand here';
  if (failure instanceof TimeUp) {
    return failure.cause instanceof ApiError
      ? `not done in time; met last: ${failure.cause.message}`
      : 'not done in time';
  }
  return failure instanceof Error ? failure.message : String(failure);
}
