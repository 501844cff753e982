import { RequestError, UserError } from '../http/errors.js';
import { errorMessage, sentences, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';
import { BadInputs } from './inputs/input-reader.js';
import type { StepReport } from './step-report.js';

const failed = { status: 'error', succeeded: false, headline: 'Failed' };

/** Reports an error outside of a mode. It is a bug of the action unless a user can do something about it. */
export function errorReport(error: unknown): StepReport {
  if (error instanceof BadInputs) return { ...failed, error: error.message, outputs: error.outputs };
  if (error instanceof UserError) return { ...failed, error: error.message };
  const advice =
    'The step may have completed part of its work. If it created a key, the post step revokes that key. Please report this as a bug in this action, unless the runner caused it.';
  return { ...failed, error: sentences(`The step ended without a result: ${errorMessage(error)}`, advice) };
}

/** Reports an error that ended a mode. Rethrows an unexpected error, because that is a bug in the action. */
export function failureReport(error: unknown, timeout: number): StepReport {
  // The contract promises that a cancelled step has no error annotation.
  if (error instanceof CancelledError) return { ...failed, status: 'cancelled', headline: 'Cancelled' };
  if (error instanceof DeadlineExceeded)
    return { ...failed, headline: 'Timed out', error: `${failureText(error, timeout)}. ${adviceAfter(error)}` };
  if (error instanceof RequestError) return { ...failed, error: sentences(error.message, adviceFor(error)) };
  if (error instanceof UserError) return { ...failed, error: error.message };
  throw error;
}

/** Says what ended a mode, without advice. */
export function failureText(error: unknown, timeout: number): string {
  const late = `Timed out after ${formatDuration(timeout)}`;
  return error instanceof DeadlineExceeded ? withLastError(late, error.cause) : errorMessage(error);
}

/** After a timeout, the advice is about the last error before the deadline, if there was one. */
export function adviceAfter(failure: unknown): string {
  const error = failure instanceof DeadlineExceeded ? failure.cause : failure;
  return error instanceof RequestError ? adviceFor(error) : 'Raise timeout, or check why the service is slow.';
}
