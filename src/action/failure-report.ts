import { RequestError } from '../http/errors.js';
import { UserError } from '../keys/revocation.js';
import { errorMessage, sentences, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';
import { BadInputs } from './inputs/input-reader.js';
import type { StepReport } from './publish.js';
import { ResultFileError } from './publish.js';

/** The report of a mode that failed without a result. */
export function failureReport(error: unknown, timeout: number, namesProject = false): StepReport {
  return { ...describeFailure(error, timeout, namesProject), succeeded: false };
}

/** The report of a step with invalid inputs, with a result file that could not be written, or with a defect. */
export function errorReport(error: unknown): StepReport {
  const report = { status: 'error', succeeded: false };
  const message = errorMessage(error);
  if (error instanceof BadInputs) return { ...report, headline: 'Bad input', error: message };
  if (error instanceof ResultFileError)
    return {
      ...report,
      headline: 'Could not write the result file',
      error: `${message}. The step did its work, but later steps cannot read the result. Check the disk of the runner, and run the step again.`,
    };
  return {
    ...report,
    headline: 'No result',
    error: `The step ended without a result: ${message}. It may have done part of its work. If it created a key, the post step revokes the key. If the runner is not at fault, please report this as a bug in this action.`,
  };
}

/** Describes why a mode has no result. */
export interface FailureMessages {
  readonly status: 'cancelled' | 'error';
  readonly headline: string;
  /** Undefined after a cancel: such a step ends without an error annotation (a promise of the contract). */
  readonly error: string | undefined;
}

/**
 * `timeout`: of the step, in milliseconds. `namesProject`: whether the mode has the input `project-id`. Unexpected
 * errors are defects, and are thrown again.
 */
export function describeFailure(error: unknown, timeout: number, namesProject = false): FailureMessages {
  if (error instanceof CancelledError) return { status: 'cancelled', headline: 'Cancelled', error: undefined };
  if (error instanceof DeadlineExceeded) {
    const reason = withLastError(`Timed out after ${formatDuration(timeout)}`, error.cause);
    return { status: 'error', headline: 'Timed out', error: `${reason}. ${adviceAfter(error, namesProject)}` };
  }
  if (error instanceof RequestError) {
    return { status: 'error', headline: 'Failed', error: sentences(error.message, adviceFor(error, namesProject)) };
  }
  if (error instanceof UserError) return { status: 'error', headline: 'Failed', error: error.message };
  throw error;
}

/** If the last error before a timeout is known, the advice is about that error. */
export function adviceAfter(failure: unknown, namesProject = false): string {
  const error = failure instanceof DeadlineExceeded ? failure.cause : failure;
  return error instanceof RequestError
    ? adviceFor(error, namesProject)
    : 'Raise timeout, or check why the service is slow.';
}
