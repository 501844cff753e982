import { ApiError } from '../http/errors.js';
import { type CleanedUp, NoCredential } from '../modes/clean-up.js';
import { parseKeyName } from '../modes/keys/key-name.js';
import { type PostState, UnreadablePostState } from '../modes/keys/post-state.js';
import { firstOf } from '../text/first-of.js';
import { TimeUp } from '../time/limit.js';

/** Sweeps skip a key whose name says that it is kept on purpose. */
function unrevoked(name = ''): string {
  const isKept = parseKeyName(name)?.isKept === true;
  return `Until it is revoked it can do all that the account can; sweep-keys ${isKept ? 'does not revoke it' : 'finds it when this run is over'}.`;
}

/** Names the keys that may be alive, the reason, and how to revoke them. */
export function whyNotCleanedUp(
  { left, isUnseen, failure }: Omit<CleanedUp, 'revoked'>,
  { name, minted }: PostState,
): string {
  const why = reason(failure);
  const ids = firstOf(left);
  if (left.length > 0) {
    const others = isUnseen ? ', and another of its name may have been left' : '';
    return `Key ${ids} (${name}) is not known to be revoked${others}: ${why}. Revoke it in the console, or with mode: revoke-key and key-id: ${ids}. ${unrevoked(name)}`;
  }
  const [kept, how] =
    minted === undefined
      ? ['', `mode: revoke-key and key-name: ${name}`]
      : [` other than key ${minted.id}`, `mode: list-keys and filter: name=${name}`];
  return `A key of the name ${name}${kept} may have been left: ${why}. Look for the name in the console, or with ${how}. ${unrevoked(name)}`;
}

/** If the state of main is unreadable, post knows nothing about the key. */
export function whyNothingIsKnown(error: unknown): string {
  return `Whether a key is left could not be seen: ${reason(error)}. ${unrevoked()}`;
}

function reason(failure: unknown): string {
  if (failure instanceof NoCredential) return 'the API key of the main step is not available in the post step';
  if (failure instanceof TimeUp) {
    const { cause } = failure;
    return cause === undefined ? 'not done in time' : `not done in time; met last: ${reason(cause)}`;
  }
  const said = failure instanceof Error ? failure.message : String(failure);
  return failure instanceof ApiError || failure instanceof UnreadablePostState ? said : `${said} (a defect)`;
}
