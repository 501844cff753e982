import type { Key } from '../../api/keys.js';
import type { Page } from '../../api/paging.js';
import { type ApiRecord, fieldTime, type Operation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import { type Send, withRetries } from '../../http/retry.js';
import { joinFirst, messageBounds, plural } from '../../text/sentences.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import type { ListKeysSettings, ListOperationsSettings, ListProjectsSettings, ListSettings } from './settings.js';
import { shardNumber } from './shards.js';

export type Noun = 'key' | 'operation' | 'project';

export type ListResult<T extends ApiRecord = ApiRecord> = ReturnType<typeof conclude<T>>;

export async function listKeys({ olderThan, ...settings }: ListKeysSettings, collaborators: Collaborators) {
  const { api, deadline } = collaborators;
  const keys = await api.keys(withRetries(collaborators));
  const end = olderThan === undefined ? Number.POSITIVE_INFINITY : api.serviceEpochMs(deadline.clock) - olderThan;
  const isOld = ({ createdAt = Number.NEGATIVE_INFINITY }: Key) => createdAt < end;
  const page = { records: [...keys.values()], cursor: undefined };
  const result = conclude('key', await collect(() => [page], settings, collaborators, isOld), settings);
  const undated = result.records.flatMap(({ id, createdAt }) => (createdAt === undefined ? [id] : []));
  if (olderThan !== undefined && undated.length > 0)
    result.warnings.push(
      `${plural(undated.length, 'key')} without a readable creation time counted as older than ${formatDuration(olderThan)}: ${joinFirst(undated, messageBounds)}.`,
    );
  return result;
}

export async function listOperations(settings: ListOperationsSettings, collaborators: Collaborators) {
  const { projectId, since } = settings;
  const { api, deadline } = collaborators;
  const read = (send: Send) => {
    const pages = api.operations(projectId, send);
    return since === undefined ? pages : takeSince(pages, () => api.serviceEpochMs(deadline.clock) - since);
  };
  return conclude('operation', await collect(read, settings, collaborators), settings);
}

/** The service lists the newest operations first, so a page with an operation created before `since` ends the list. */
async function* takeSince(pages: AsyncIterable<Page<Operation>>, since: () => number): AsyncGenerator<Page<Operation>> {
  let known: number | undefined;
  for await (const page of pages) {
    // Only a response shows the service's clock, so the time is read after the first page.
    known ??= since();
    const begin = known;
    const records = page.records.filter((operation) => (fieldTime(operation, 'created_at') ?? begin) >= begin);
    if (records.length < page.records.length) return yield { records, cursor: undefined };
    yield page;
  }
}

export async function listProjects({ shard, orgId, ...settings }: ListProjectsSettings, collaborators: Collaborators) {
  const read = (send: Send) => collaborators.api.projects(send, orgId);
  const isInShard = ({ id }: ApiRecord) => shard === undefined || shardNumber(id, shard.total) === shard.number;
  return conclude('project', await collect(read, settings, collaborators, isInShard), settings);
}

/** Returns the records that the filter admits. Stops when a page shows whether there are more than `limit`. */
async function collect<T extends ApiRecord>(
  readPages: (send: Send) => Iterable<Page<T>> | AsyncIterable<Page<T>>,
  { filter, limit, isLimitSet }: ListSettings,
  collaborators: Collaborators,
  isWanted: (record: T) => boolean = () => true,
): Promise<Page<T>> {
  const { log } = collaborators;
  let { deadline } = collaborators;
  const { clock } = deadline;
  const send: Send = (attempt) => withRetries({ ...collaborators, deadline })(attempt);
  // A record that is listed twice counts if the filter admits any of its versions.
  const ids = new Set<string>();
  const records: T[] = [];
  let last: Page<T> = { records, cursor: undefined };
  let isFull = false;
  let read = 0;
  let loggedAt = clock.now();
  try {
    for await (const page of readPages(send)) {
      read += page.records.length;
      for (const one of page.records)
        if (isWanted(one) && filter.admits(one.record) && ids.size < ids.add(one.id).size) records.push(one);
      last = { ...page, records };
      // If the user set the limit, one more page shows whether the limit cut the list.
      if (isFull || records.length > limit || (records.length === limit && !isLimitSet)) break;
      isFull = records.length === limit;
      // The next page may come late, or never. The step must end in time with the records that it has.
      if (isFull) deadline = deadline.within(deadline.remaining * 0.9);
      if (clock.now() - loggedAt < 10_000) continue;
      loggedAt = clock.now();
      log.info(`Read ${read} records so far.`);
    }
  } catch (error) {
    if (!isFull || !(error instanceof RequestError || error instanceof DeadlineExceeded)) throw error;
  }
  return last;
}

function conclude<T extends ApiRecord>(noun: Noun, { records, cursor }: Page<T>, settings: ListSettings) {
  const { limit, isLimitSet, failOn } = settings;
  const contents = records.length === 0 ? 'empty' : 'match';
  const isCut = records.length > limit;
  const mayBeCut = isCut || (records.length === limit && cursor !== undefined);
  const warnings: string[] = [];
  if (isLimitSet && mayBeCut) {
    const what = isCut ? 'truncated the list:' : 'may have truncated the list: the step does not know whether';
    warnings.push(`The setting “limit: ${limit}” ${what} more ${noun}s match. Raise limit, or set it to 0 for all.`);
  }
  const verdict: 'ok' | 'empty' | 'match' = contents === failOn ? contents : 'ok';
  return {
    verdict,
    records: records.slice(0, limit),
    /** True if the default limit cut the list, or may have cut it. */
    isCutByDefault: !isLimitSet && mayBeCut,
    warnings,
  };
}
