import { failureIn } from '../../words/failure.js';
import type { Ending } from '../ending.js';

/** The end of a mode that came to no result. */
export function failureReport(error: unknown, timeout: number): Ending {
  return { ...failureIn(error, timeout), succeeded: false };
}
