import { codeHtml, truncatedTable } from '../action/markdown.js';
import type { StepReport } from '../action/step-report.js';
import { RequestError, UserError } from '../http/errors.js';
import { parseKeyName } from '../keys/key-name.js';
import { isAmbiguous, type PostState } from '../keys/post-state.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { errorMessage, joinFirst, messageBounds, withLastError } from '../text/sentences.js';
import { DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import type { CleanUpResult } from './clean-up.js';

export function cleanUpReport(result: CleanUpResult, state: PostState): StepReport {
  const keys = result.revoked.map(({ id, revocation, goneAt = 0 }) => ({
    id,
    outcome: revocation.outcome === 'revoked' ? 'revoked' : 'already gone',
    life: formatDuration(Math.max(0, goneAt - state.since)),
  }));
  const rows = [
    ...keys.map(({ id, outcome, life }) => [outcome, codeHtml(id), codeHtml(state.name), life]),
    ...result.unconfirmed.map((id) => ['not revoked', codeHtml(id), codeHtml(state.name), '']),
  ];
  const details = truncatedTable(['Result', 'Key', 'Name', 'Lifetime'], rows, (row) => row);
  if (result.failure !== undefined)
    return keyMayBeAlive(unconfirmedMessage(result, result.failure, state), state, details);
  const messages = keys.map(({ id, outcome, life }) => `Key ${id} was ${outcome}, ${life} after it was created`);
  return {
    status: 'ok',
    succeeded: true,
    headline:
      joinFirst(messages, messageBounds) ||
      `Found no ${state.minted === undefined ? '' : 'other '}key named ${state.name}`,
    details,
  };
}

/** Warns of keys that may exist although post found none. `isUrlConfirmed`: false if another step may have forged the URL. */
export function doubts(result: CleanUpResult, state: PostState, isUrlConfirmed: boolean): string[] {
  const { baseUrl, name, minted, openCreates, foundKeyIds } = state;
  const known = [...foundKeyIds, minted?.id];
  const found = [...result.revoked.map(({ id }) => id), ...result.unconfirmed].filter((id) => !known.includes(id));
  // If the search failed, the report already says that another key may exist.
  const isOpen = !result.mayHaveStrayKey && found.length < openCreates;
  const why = 'the request to create it got no usable response, and may still take effect';
  const forged = `The saved state has the base-url ${sanitizeLine(baseUrl)}, which neither the api-key nor the base-url of the post step confirms. Another step of this job may have changed the state. Check in the console that key ${minted?.id} (${name}) is revoked.`;
  return [
    ...(isOpen ? [messageByName('may still be created', why, state)] : []),
    ...(isUrlConfirmed || minted === undefined ? [] : [forged]),
  ];
}

/** Reports an unexpected error of the post step. `isAllGone`: true if no key can still be valid. */
export function crashReport(error: unknown, state: PostState | undefined, isAllGone: boolean): StepReport {
  if (isAllGone) {
    const warnings = [`The key was revoked, but then the post step failed: ${errorMessage(error)}.`];
    return { status: 'ok', succeeded: true, headline: 'The key was revoked', warnings };
  }
  if (state === undefined) {
    const message = `Could not check whether a key still exists: ${describeReason(error)}. Look in the console for a key whose name contains the id of this run, and revoke it. ${consequence()}`;
    return keyMayBeAlive(message, state);
  }
  const { minted, revoke } = state;
  const unconfirmed = minted !== undefined && revoke ? [minted.id] : [];
  const left = { unconfirmed, mayHaveStrayKey: isAmbiguous(state), mayBelongToOther: false };
  return keyMayBeAlive(unconfirmedMessage(left, error, state), state);
}

function keyMayBeAlive(message: string, state: PostState | undefined, details = ''): StepReport {
  const ending = { status: 'error', headline: 'A key may still be valid', details };
  return state?.onFailure === 'fail'
    ? { ...ending, succeeded: false, error: message }
    : { ...ending, succeeded: true, warnings: [message] };
}

/** Says whether a sweep will revoke the key. A sweep skips keys that are kept on purpose. Only the name of a key shows this. */
function consequence(name = ''): string {
  const isKept = parseKeyName(name)?.isKept === true;
  const sweep = isKept ? 'does not revoke it, because revoke-in-post is false' : 'revokes it once this run is over';
  return `A key has full access to the account until it is revoked. sweep-keys ${sweep}.`;
}

type KeysLeft = Pick<CleanUpResult, 'unconfirmed' | 'mayHaveStrayKey' | 'mayBelongToOther'>;

function unconfirmedMessage(left: KeysLeft, failure: unknown, state: PostState): string {
  const { unconfirmed, mayHaveStrayKey, mayBelongToOther } = left;
  const { name } = state;
  const why = describeReason(failure);
  const ids = joinFirst(unconfirmed);
  if (unconfirmed.length > 0) {
    const others = mayHaveStrayKey ? ', and another key with this name may still exist' : '';
    const [key, was, it] = unconfirmed.length === 1 ? ['key', 'was', 'it'] : ['keys', 'were', 'them'];
    return `Could not confirm that ${key} ${ids} (${name}) ${was} revoked${others}: ${why}. Revoke ${it} in the console, or with mode: revoke-key and ${mayBelongToOther ? `key-name: ${name}` : `key-id: ${ids}`}. ${consequence(name)}`;
  }
  return messageByName('may still exist', why, state);
}

function messageByName(what: string, why: string, { name, minted, openCreates }: PostState): string {
  const kept = minted === undefined ? '' : ` other than key ${minted.id}`;
  // `revoke-key` revokes nothing if several keys have the name.
  const isOnlyOne = minted === undefined && openCreates < 2;
  const how = isOnlyOne
    ? `Revoke it in the console, or with mode: revoke-key and key-name: ${name}`
    : `Find it in the console, or with mode: list-keys and filter: name=${name}, and revoke it by its id`;
  return `A key named ${name}${kept} ${what}: ${why}. ${how}. ${consequence(name)}`;
}

function describeReason(failure: unknown): string {
  if (failure instanceof DeadlineExceeded) return withLastError('the post step timed out', failure.cause);
  const isExpected = failure instanceof RequestError || failure instanceof UserError;
  return isExpected ? errorMessage(failure) : `${errorMessage(failure)} (a bug in this action)`;
}
