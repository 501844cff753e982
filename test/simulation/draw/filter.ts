import type { Chance } from '../chance.js';
import type { RecordFilter } from '../plan.js';

/** A filter as the step gets it, and as a function that is written without the action's code. */
export function drawFilter(
  chance: Chance,
  filters: readonly [readonly [string, RecordFilter], ...(readonly [string, RecordFilter])[]],
  otherwise: RecordFilter = () => true,
): readonly [string, RecordFilter] {
  return chance.odds(0.3) ? chance.pick(filters) : ['', otherwise];
}

export function text(record: Readonly<Record<string, unknown>>, field: string): string {
  return String(record[field] ?? '');
}
