import type { ApiRecord } from '../../api/records.js';
import type { Collaborators } from '../mode.js';
import type { Filter } from './filter.js';

export interface ListSettings {
  readonly filter: Filter;
  /** Maximum number of records; 0: no limit. */
  readonly limit: number;
  /** False for the default, which cuts a list without a warning. */
  readonly isLimitSet: boolean;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface ListResult<T extends ApiRecord = ApiRecord> {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly records: readonly T[];
  /** The limit that the user set, if the pages that were read hold more matching records. */
  readonly cutAt: number | undefined;
}

/** Milliseconds. */
const progressInterval = 10_000;

/** Reads pages until the limit is reached, and logs the progress of a long list. */
export async function collect<T extends ApiRecord>(
  pages: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  { filter, limit, isLimitSet, failOn }: ListSettings,
  { deadline: { clock }, log }: Pick<Collaborators, 'deadline' | 'log'>,
): Promise<ListResult<T>> {
  const maxRecords = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const admitted: T[] = [];
  let read = 0;
  let loggedAt = clock.now();
  for await (const page of pages) {
    read += page.length;
    for (const record of page) if (filter.admits(record.record)) admitted.push(record);
    if (admitted.length >= maxRecords) break;
    if (clock.now() - loggedAt < progressInterval) continue;
    loggedAt = clock.now();
    log.info(`Read ${read} records so far.`);
  }
  const contents = admitted.length === 0 ? 'empty' : 'match';
  return {
    verdict: contents === failOn ? contents : 'ok',
    records: admitted.slice(0, maxRecords),
    cutAt: isLimitSet && admitted.length > maxRecords ? limit : undefined,
  };
}
