import type { Recorded } from '../../api/records.js';
import type { Collaborators } from '../collaborators.js';
import type { Filter } from './filter.js';

/** What a list is to hold. */
export interface Wanted {
  readonly filter: Filter;
  /** How many records at most; 0: all. */
  readonly limit: number;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface Found<T extends Recorded = Recorded> {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly records: readonly T[];
}

const toldEvery = 10_000;

/** Reads on until there are as many records as are wanted. A long list tells how far it is. */
export async function collect<T extends Recorded>(
  pages: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  { filter, limit: most, failOn }: Wanted,
  { limit: { clock }, log }: Pick<Collaborators, 'limit' | 'log'>,
): Promise<Found<T>> {
  const records: T[] = [];
  let read = 0;
  let told = clock.now();
  for await (const page of pages) {
    read += page.length;
    for (const record of page) {
      if ((most === 0 || records.length < most) && filter.admits(record.record)) records.push(record);
    }
    if (most > 0 && records.length >= most) break;
    if (clock.now() - told < toldEvery) continue;
    told = clock.now();
    log.info(`${read} records read so far.`);
  }
  const found = records.length === 0 ? 'empty' : 'match';
  return { verdict: found === failOn ? found : 'ok', records };
}
