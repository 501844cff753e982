import { BadValue } from '../../../../src/action/inputs/input-values.js';

/** Why a value is refused. */
export function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof BadValue) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}
