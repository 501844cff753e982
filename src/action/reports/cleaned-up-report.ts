import type { CleanedUp } from '../../modes/clean-up.js';
import type { PostState } from '../../modes/keys/post-state.js';
import { firstOf } from '../../text/first-of.js';
import { formatDuration } from '../../time/duration.js';
import { whyNotCleanedUp, whyNothingIsKnown } from '../../words/clean-up.js';
import type { Ending } from '../ending.js';
import { code, tableOfFirst } from './markdown.js';

/** `date`: the current time, in milliseconds since 1970. */
export function cleanedUpReport(cleanedUp: CleanedUp, trace: PostState, date: number): Ending {
  const ends = cleanedUp.revoked.map(({ id, gone, since }) => ({
    id,
    fate: gone === 'revoked' ? 'revoked' : 'gone already',
    life: since === undefined ? 'some time' : formatDuration(Math.max(0, date - since)),
  }));
  const rows = [
    ...ends.map(({ id, fate, life }) => [fate, code(id), code(trace.name), life]),
    ...cleanedUp.left.map((id) => ['not revoked', code(id), code(trace.name), '']),
  ];
  const details = tableOfFirst(['', 'Key', 'Name', 'Lived for'], rows, (row) => row);
  if (cleanedUp.failure !== undefined) return notAllGone(whyNotCleanedUp(cleanedUp, trace), trace, details);
  const told = ends.map(({ id, fate, life }) => `Key ${id} is ${fate}, ${life} after it was made`);
  return {
    status: 'ok',
    succeeded: true,
    headline: firstOf(told, { between: '; ' }) || `No key of the name ${trace.name} was left`,
    details,
  };
}

/** Reports an unexpected error. Keys may still be alive, unless all were confirmed to be gone before it. */
export function crashReport(error: unknown, trace: PostState | undefined, isAllGone: boolean): Ending {
  if (isAllGone) {
    const said = error instanceof Error ? error.message : String(error);
    const warnings = [`The key is revoked, but the post step ended early: ${said}.`];
    return { status: 'ok', succeeded: true, headline: 'The key is revoked', warnings };
  }
  if (trace === undefined) return notAllGone(whyNothingIsKnown(error), trace, '');
  const left = trace.minted !== undefined && trace.revoke ? [trace.minted.id] : [];
  return notAllGone(whyNotCleanedUp({ left, isUnseen: trace.unclear, failure: error }, trace), trace, '');
}

function notAllGone(message: string, trace: PostState | undefined, details: string): Ending {
  const ending = { status: 'error', headline: 'A key may be alive', details };
  return trace?.onFailure === 'fail'
    ? { ...ending, succeeded: false, error: message }
    : { ...ending, succeeded: true, warnings: [message] };
}
