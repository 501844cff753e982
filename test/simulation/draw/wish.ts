import type { Chance } from '../chance.js';
import type { Wish } from '../plan.js';

/** A filter as a step gets it, and what it means, said in another way than the action's own. */
export function drawFilter(
  chance: Chance,
  filters: readonly [readonly [string, Wish], ...(readonly [string, Wish])[]],
  otherwise: Wish = () => true,
): readonly [string, Wish] {
  return chance.odds(0.3) ? chance.pick(filters) : ['', otherwise];
}

export function text(record: Readonly<Record<string, unknown>>, field: string): string {
  const value = record[field];
  return value === undefined || value === null ? '' : String(value);
}
