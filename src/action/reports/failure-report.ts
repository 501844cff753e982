import { failureIn } from '../../words/failure.js';
import type { Ending } from '../ending.js';
import { BadInputs } from '../inputs/input-reader.js';
import { Untold } from '../publish.js';

/** The report of a mode that failed without a result. */
export function failureReport(error: unknown, timeout: number, namesProject = false): Ending {
  return { ...failureIn(error, timeout, namesProject), succeeded: false };
}

/** The report of a step with invalid inputs, with a result file that could not be written, or with a defect. */
export function noResultReport(error: unknown): Ending {
  return { status: 'error', succeeded: false, ...inWords(error) };
}

function inWords(error: unknown): { readonly headline: string; readonly error: string } {
  if (error instanceof BadInputs) return { headline: 'Bad input', error: error.message };
  const said = error instanceof Error ? error.message : String(error);
  if (error instanceof Untold)
    return {
      headline: 'The result could not be told',
      error: `${said}. What was done stands, but the steps after this one would not know: look at the runner, and run the step again.`,
    };
  return {
    headline: 'No result',
    error: `The step has no result: ${said}. What it did until then is not known; a key that it made is revoked when the job ends. If this is not a fault of the runner, please report it as a defect of this action.`,
  };
}
