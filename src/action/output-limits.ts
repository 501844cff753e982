import type { Output } from './ending.js';

/** One environment value holds 128 KiB, and a script may want to hand it on with something beside it. */
export const recordsBytes = 100 * 1024;
/** The outputs of a job share 1 MB, counted in units of UTF-16. */
const stepUnits = 400 * 1024;

/** The outputs as far as they fit: what does not is left empty, and named. */
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
