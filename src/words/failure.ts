import { ApiError } from '../http/errors.js';
import { NoResult } from '../modes/no-result.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import { Cancelled, TimeUp } from '../time/limit.js';
import { adviceFor } from './advice.js';

/** Why a mode came to no result, in words. */
export interface Failure {
  readonly status: 'cancelled' | 'error';
  readonly headline: string;
  /** None where somebody called it off. */
  readonly error: string | undefined;
}

/**
 * `timeout`: of the step, in milliseconds. `namesProject`: whether its mode takes `project-id`. What is no way for a step to
 * end, a defect, is thrown again.
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
