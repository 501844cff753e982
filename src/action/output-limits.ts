import type { Output } from './ending.js';

/** One environment value holds 128 KiB on Linux. The rest is room for text that a script adds to the records. */
export const recordsBytes = 100 * 1024;
/** All outputs of a job share 1 MB, counted in UTF-16 units. One step takes less than half of it. */
const stepUnits = 400 * 1024;

/** Empties the outputs that exceed a limit, and returns their names. */
export function fitting(outputs: readonly Output[]): {
  readonly outputs: readonly { readonly name: string; readonly value: string }[];
  readonly dropped: readonly string[];
} {
  const dropped = new Set(
    outputs.filter(
      ({ value, holdsRecords }) => value === undefined || (holdsRecords && Buffer.byteLength(value) >= recordsBytes),
    ),
  );
  const units = () => outputs.reduce((sum, output) => sum + (dropped.has(output) ? 0 : (output.value?.length ?? 0)), 0);
  const byRank = outputs
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
  for (const output of byRank) {
    if (units() < stepUnits) break;
    dropped.add(output);
  }
  return {
    outputs: outputs.map((output) => ({ name: output.name, value: dropped.has(output) ? '' : (output.value ?? '') })),
    dropped: [...dropped].map(({ name }) => name),
  };
}
