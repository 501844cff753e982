import { type JsonObject, printJson } from '../../text/json.js';
import { recordsBytes } from '../output-limits.js';

/** Records per piece. A single string for a large list would need its length of memory again. */
const atOnce = 1_000;

interface Recorded {
  readonly record: JsonObject;
}

/** A JSON array, in pieces. Each record is whole in one piece, so that redaction can find a secret in it. */
export function* printedArray(records: readonly Recorded[]): Generator<string> {
  yield '[';
  for (let from = 0; from < records.length; from += atOnce) {
    const piece = printJson(records.slice(from, from + atOnce).map(({ record }) => record)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield ']';
}

/** A JSON array for an output, or `undefined` if it is too large for any output. */
export function recordsForOutput(records: readonly Recorded[]): string | undefined {
  let text = '';
  for (const piece of printedArray(records)) {
    text += piece;
    if (text.length >= recordsBytes) return undefined;
  }
  return text;
}

/** The whole result as JSON: the fields of `head`, then the records under `name`. */
export function* printedResult(
  head: Readonly<Record<string, unknown>>,
  name: string,
  records: readonly Recorded[],
): Generator<string> {
  yield `${printJson(head).slice(0, -1)},${JSON.stringify(name)}:`;
  yield* printedArray(records);
  yield '}';
}
