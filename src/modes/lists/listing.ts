import type { Recorded } from '../../api/records.js';
import type { Collaborators } from '../collaborators.js';
import type { Filter } from './filter.js';

export interface Wanted {
  readonly filter: Filter;
  /** Maximum number of records; 0: no limit. */
  readonly limit: number;
  /** False for the default, which cuts a list without a warning. */
  readonly isLimitSet: boolean;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface Found<T extends Recorded = Recorded> {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly records: readonly T[];
  /** The limit that the user set, if the pages that were read hold more matching records. */
  readonly cutAt: number | undefined;
}

/** Milliseconds. */
const toldEvery = 10_000;

/** Reads pages until the limit is reached, and logs the progress of a long list. */
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
