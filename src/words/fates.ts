import { ApiError } from '../http/errors.js';
import type { Fate } from '../modes/keys/fates.js';
import { firstOf, stories } from '../text/first-of.js';
import { formatDuration } from '../time/duration.js';
import { Cancelled, TimeUp } from '../time/limit.js';
import { adviceFor } from './advice.js';
import { type Failure, failureIn, raiseTimeout } from './failure.js';

export function idsBy(fates: readonly Fate[]): {
  readonly revoked: readonly string[];
  readonly gone: readonly string[];
  readonly failed: readonly string[];
} {
  const ids = (is: (fate: Fate) => boolean) => fates.filter(is).map(({ id }) => id);
  return {
    revoked: ids((fate) => 'gone' in fate && fate.gone === 'revoked'),
    gone: ids((fate) => 'gone' in fate && fate.gone === 'gone'),
    failed: ids((fate) => 'failure' in fate),
  };
}

/** Describes the revocations that failed. Undefined if none did. */
export function failureOf(fates: readonly Fate[], timeout: number): Failure | undefined {
  const failed = fates.flatMap((fate) => ('failure' in fate ? [fate] : []));
  const [first] = failed;
  if (first === undefined) return undefined;
  const decisive = failed.find(({ failure }) => failure instanceof Cancelled) ?? first;
  const { status, headline, error } = failureIn(decisive.failure, timeout);
  if (error === undefined) return { status, headline, error };
  const said = failed.map(({ id, failure }) => `${id} (${whyNot(failure, timeout)})`);
  const keys = fates.length === 1 ? '1 key' : `${fates.length} keys`;
  return {
    status,
    headline,
    error: `${failed.length} of ${keys} could not be revoked: ${firstOf(said, stories)}. ${adviceOn(first.failure)} Until they are revoked they can do all that the account can.`,
  };
}

function whyNot(failure: unknown, timeout: number): string {
  if (failure instanceof ApiError) return failure.message;
  if (!(failure instanceof TimeUp)) throw failure;
  const met = failure.cause instanceof ApiError ? `; met last: ${failure.cause.message}` : '';
  return `the timeout of ${formatDuration(timeout)} ended before${met}`;
}

function adviceOn(failure: unknown): string {
  const met = failure instanceof TimeUp ? failure.cause : failure;
  return met instanceof ApiError ? adviceFor(met, false) : raiseTimeout;
}
