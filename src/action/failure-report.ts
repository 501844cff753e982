import { RequestError, UserError } from '../http/errors.js';
import { errorMessage, sentences, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';
import type { StepReport } from './step-report.js';

const failed = { status: 'error', succeeded: false, headline: 'Failed' };

/** Reports an error outside of a mode. It is a bug of the action unless a user can do something about it. */
export function errorReport(error: unknown): StepReport {
  if (error instanceof UserError) return { ...failed, error: error.message };
  const advice =
    'The step may have completed part of its work. If it created a key, the post step revokes that key. Please report this as a bug in this action, unless the runner caused it.';
  return { ...failed, error: sentences(`The step ended without a result: ${errorMessage(error)}`, advice) };
}

/** Reports an error that ended a mode. Rethrows an unexpected error, because that is a bug in the action. */
export function failureReport(error: unknown, timeout: number): StepReport {
  // The contract promises that a cancelled step has no error annotation.
  if (error instanceof CancelledError) return { ...failed, status: 'cancelled', headline: 'Cancelled' };
  if (error instanceof UserError) return { ...failed, error: error.message };
  if (!(error instanceof DeadlineExceeded || error instanceof RequestError)) throw error;
  const headline = error instanceof DeadlineExceeded ? 'Timed out' : 'Failed';
  const { what, advice } = explain(error, timeout);
  return { ...failed, headline, error: sentences(what, advice) };
}

/** After a timeout, the advice is about the last error before the deadline, if there was one. */
export function explain(failure: unknown, timeout: number) {
  const isLate = failure instanceof DeadlineExceeded;
  const error = isLate ? failure.cause : failure;
  const what = isLate ? withLastError(`Timed out after ${formatDuration(timeout)}`, error) : errorMessage(error);
  const advice = error instanceof RequestError ? adviceFor(error) : 'Raise timeout, or check why the service is slow.';
  return { what, advice };
}
