import type { Key } from '../../api/keys.js';
import type { Page } from '../../api/paging.js';
import { type ApiRecord, fieldTime, type Operation } from '../../api/records.js';
import { UserError } from '../../keys/revocation.js';
import { defaultPolicy } from '../default-policy.js';
import type { Collaborators } from '../mode.js';
import type { Filter } from './filter.js';
import { type Shard, shardNumber } from './shards.js';

export interface ListSettings {
  readonly filter: Filter;
  /** Maximum number of records. 0 means no limit. */
  readonly limit: number;
  /** False for the default limit, which truncates a list without a warning. */
  readonly isLimitSet: boolean;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface ListOperationsSettings extends ListSettings {
  readonly projectId: string;
  /** The maximum age of a listed operation, in milliseconds. */
  readonly since: number | undefined;
}

export interface ListProjectsSettings extends ListSettings {
  readonly shard: Shard | undefined;
  readonly maxBatches: number;
}

export interface ListResult<T extends ApiRecord = ApiRecord> {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly records: readonly T[];
  /** The limit, if the user set a limit and more records match. */
  readonly cutAt: number | undefined;
}

export async function listKeys(settings: ListSettings, collaborators: Collaborators): Promise<ListResult<Key>> {
  const { keys, missing } = await collaborators.api.keys(defaultPolicy(collaborators));
  const result = await collect([keys], settings, collaborators);
  if (missing === undefined) return result;
  const what = 'The list of keys is incomplete: the response reports more keys than it contains.';
  if (settings.failOn !== undefined && result.records.length === 0)
    throw new UserError(`${what} A matching key may be missing. Check the keys in the console.`);
  collaborators.log.warning(what);
  return result;
}

export async function listOperations(
  { projectId, since, ...settings }: ListOperationsSettings,
  collaborators: Collaborators,
): Promise<ListResult<Operation>> {
  const { api, deadline } = collaborators;
  const pages = recordsOf(api.operations(projectId, defaultPolicy(collaborators)));
  const recent = since === undefined ? pages : takeSince(pages, () => api.epochMsForAges(deadline.clock) - since);
  return collect(recent, settings, collaborators);
}

/** The service lists the newest operations first, so the first operation created before `sinceMs` ends the list. */
async function* takeSince(
  pages: AsyncIterable<readonly Operation[]>,
  sinceMs: () => number,
): AsyncGenerator<readonly Operation[]> {
  let known: number | undefined;
  for await (const page of pages) {
    // Only a response shows the service's clock, so the time is read after the first page.
    known ??= sinceMs();
    const begin = known;
    const older = page.findIndex((operation) => (fieldTime(operation, 'created_at') ?? begin) < begin);
    yield older < 0 ? page : page.slice(0, older);
    if (older >= 0) return;
  }
}

export async function listProjects(
  { shard, ...settings }: ListProjectsSettings,
  collaborators: Collaborators,
): Promise<ListResult> {
  const pages = recordsOf(collaborators.api.projects(defaultPolicy(collaborators)));
  return collect(shard === undefined ? pages : takeShard(pages, shard), settings, collaborators);
}

async function* takeShard(
  pages: AsyncIterable<readonly ApiRecord[]>,
  { number, total }: Shard,
): AsyncGenerator<ApiRecord[]> {
  for await (const page of pages) yield page.filter(({ id }) => shardNumber(id, total) === number);
}

async function* recordsOf<T>(pages: AsyncIterable<Page<T>>): AsyncGenerator<readonly T[]> {
  for await (const { records } of pages) yield records;
}

const progressIntervalMs = 10_000;

async function collect<T extends ApiRecord>(
  pages: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  { filter, limit, isLimitSet, failOn }: ListSettings,
  { deadline: { clock }, log }: Collaborators,
): Promise<ListResult<T>> {
  const maxRecords = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const admitted: T[] = [];
  let read = 0;
  let loggedAt = clock.now();
  for await (const page of pages) {
    read += page.length;
    for (const record of page) if (filter.admits(record.record)) admitted.push(record);
    if (admitted.length >= maxRecords) break;
    if (clock.now() - loggedAt < progressIntervalMs) continue;
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
