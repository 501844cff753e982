import { ApiError } from '../http/errors.js';
import { NoResult } from '../modes/no-result.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import { Cancelled, TimeUp } from '../time/limit.js';
import { adviceFor } from './advice.js';

/** Describes why a mode has no result. */
export interface Failure {
  readonly status: 'cancelled' | 'error';
  readonly headline: string;
  /** Undefined after a cancel: such a step ends without an error annotation (a promise of the contract). */
  readonly error: string | undefined;
}

/**
 * `timeout`: of the step, in milliseconds. `namesProject`: whether the mode has the input `project-id`. Unexpected
 * errors are defects, and are thrown again.
 */
export function failureIn(error: unknown, timeout: number, namesProject = false): Failure {
  if (error instanceof Cancelled) return { status: 'cancelled', headline: 'Cancelled', error: undefined };
  if (error instanceof TimeUp) {
    const { cause } = error;
    const met =
      cause instanceof ApiError
        ? `What was met last: ${cause.message}. ${adviceFor(cause, namesProject)}`
        : raiseTimeout;
    return {
      status: 'error',
      headline: 'Not done in time',
      error: `The timeout of ${formatDuration(timeout)} ended before it was done. ${met}`,
    };
  }
  if (error instanceof ApiError) {
    return { status: 'error', headline: 'Not done', error: sentences(error.message, adviceFor(error, namesProject)) };
  }
  if (error instanceof NoResult) return { status: 'error', headline: 'Not done', error: error.message };
  throw error;
}

export const raiseTimeout = 'Raise timeout, or look at why the service takes so long.';
