import { RequestError, UserError } from '../http/errors.js';
import { errorMessage, sentences, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';
import { BadInputs } from './inputs/input-reader.js';
import { ResultFileError } from './result-file.js';
import type { StepReport } from './step-report.js';

export function errorReport(error: unknown): StepReport {
  const report = (headline: string, text: string) => ({ status: 'error', succeeded: false, headline, error: text });
  const message = errorMessage(error);
  if (error instanceof BadInputs) return { ...report('Bad input', message), outputs: error.outputs };
  const unread = `${message}. The step did its work, but later steps cannot read the result. Check the runner's disk.`;
  if (error instanceof ResultFileError) return report('Could not write a file', unread);
  const advice =
    'The step may have completed part of its work. If it created a key, the post step revokes that key. Please report this as a bug in this action, unless the runner caused it.';
  return report('No result', sentences(`The step ended without a result: ${message}`, advice));
}

/** Reports an error that ended a mode. Rethrows an unexpected error, because that is a bug in the action. */
export function failureReport(error: unknown, timeout: number): StepReport {
  const report = { status: 'error', succeeded: false, headline: 'Failed' };
  // The contract promises that a cancelled step has no error annotation.
  if (error instanceof CancelledError) return { ...report, status: 'cancelled', headline: 'Cancelled' };
  if (error instanceof DeadlineExceeded) {
    const reason = withLastError(`Timed out after ${formatDuration(timeout)}`, error.cause);
    return { ...report, headline: 'Timed out', error: `${reason}. ${adviceAfter(error)}` };
  }
  if (error instanceof RequestError) return { ...report, error: sentences(error.message, adviceFor(error)) };
  if (error instanceof UserError) return { ...report, error: error.message };
  throw error;
}

/** After a timeout, the advice is about the last error before the deadline, if there was one. */
export function adviceAfter(failure: unknown): string {
  const error = failure instanceof DeadlineExceeded ? failure.cause : failure;
  return error instanceof RequestError ? adviceFor(error) : 'Raise timeout, or check why the service is slow.';
}
