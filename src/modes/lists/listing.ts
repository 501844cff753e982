import type { Recorded } from '../../api/records.js';
import type { Collaborators } from '../collaborators.js';
import type { Filter } from './filter.js';

/** What a list is to hold. */
export interface Wanted {
  readonly filter: Filter;
  /** How many records at most; 0: all. */
  readonly limit: number;
  /** Whether the user wrote it: nobody asked for a default. */
  readonly isLimitSet: boolean;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface Found<T extends Recorded = Recorded> {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly records: readonly T[];
  /** The limit that was set, if the pages that were read hold more records than it admits. */
  readonly cutAt: number | undefined;
}

const toldEvery = 10_000;

/** Reads on until there are as many records as are wanted. A long list tells how far it is. */
export async function collect<T extends Recorded>(
  pages: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  { filter, limit, isLimitSet, failOn }: Wanted,
  { limit: { clock }, log }: Pick<Collaborators, 'limit' | 'log'>,
): Promise<Found<T>> {
  const most = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const admitted: T[] = [];
  let read = 0;
  let told = clock.now();
  for await (const page of pages) {
    read += page.length;
    for (const record of page) if (filter.admits(record.record)) admitted.push(record);
    if (admitted.length >= most) break;
    if (clock.now() - told < toldEvery) continue;
    told = clock.now();
    log.info(`${read} records read so far.`);
  }
  const found = admitted.length === 0 ? 'empty' : 'match';
  return {
    verdict: found === failOn ? found : 'ok',
    records: admitted.slice(0, most),
    cutAt: isLimitSet && admitted.length > most ? limit : undefined,
  };
}
