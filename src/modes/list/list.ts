import type { Key } from '../../api/keys.js';
import type { Page } from '../../api/paging.js';
import { type ApiRecord, fieldTime, type Operation } from '../../api/records.js';
import { UserError } from '../../http/errors.js';
import { withRetries } from '../../http/retry.js';
import type { Collaborators } from '../mode.js';
import type { ListKeysSettings, ListOperationsSettings, ListProjectsSettings, ListSettings } from './settings.js';

export type ListResult<T extends ApiRecord = ApiRecord> = Awaited<ReturnType<typeof collect<T>>>;

export async function listKeys({ olderThan, ...settings }: ListKeysSettings, collaborators: Collaborators) {
  const { api, deadline } = collaborators;
  const keys = await api.keys(withRetries(collaborators));
  const end = olderThan === undefined ? Number.POSITIVE_INFINITY : api.serviceEpochMs(deadline.clock) - olderThan;
  const isOld = ({ createdAt = Number.NEGATIVE_INFINITY }: Key) => createdAt < end;
  return collect([{ records: [...keys.values()] }], settings, collaborators, { isWanted: isOld });
}

export function listOperations(settings: ListOperationsSettings, collaborators: Collaborators) {
  const { projectId, since = Number.POSITIVE_INFINITY } = settings;
  const { api, deadline } = collaborators;
  let begin: number | undefined;
  const isWanted = (operation: Operation) => {
    // Only a response shows the service's clock, so the time is read after the first page.
    begin ??= api.serviceEpochMs(deadline.clock) - since;
    return (fieldTime(operation, 'created_at') ?? begin) >= begin;
  };
  const pages = api.operations(projectId, withRetries(collaborators));
  // The service lists the newest operations first.
  return collect(pages, settings, collaborators, { isWanted, isLast: (page) => !page.some(isWanted) });
}

export function listProjects({ orgId, ...settings }: ListProjectsSettings, collaborators: Collaborators) {
  return collect(collaborators.api.projects(withRetries(collaborators), orgId), settings, collaborators);
}

interface Selection<T> {
  readonly isWanted?: (record: T) => boolean;
  /** True if no record after this page is wanted. */
  readonly isLast?: (page: readonly T[]) => boolean;
}

/** Reads pages until `limit` records match. */
async function collect<T extends ApiRecord>(
  pages: Iterable<Pick<Page<T>, 'records'>> | AsyncIterable<Page<T>>,
  { filter, limit, failOn }: ListSettings,
  { deadline: { clock }, log }: Collaborators,
  { isWanted = () => true, isLast = () => false }: Selection<T> = {},
) {
  // A record that is listed twice counts if the filter admits any of its versions.
  const matches = new Map<string, T>();
  let read = 0;
  let loggedAt = clock.now();
  for await (const { records } of pages) {
    read += records.length;
    for (const one of records) {
      filter.note(one.record);
      if (isWanted(one) && filter.admits(one.record) && !matches.has(one.id)) matches.set(one.id, one);
    }
    if (matches.size >= limit || isLast(records)) break;
    if (clock.now() - loggedAt < 10_000) continue;
    loggedAt = clock.now();
    log.info(`Read ${read} records so far.`);
  }
  const { error, warnings } = filter.missing;
  if (error !== undefined) throw new UserError(error);
  const found = matches.size === 0 ? 'empty' : 'match';
  const verdict: 'ok' | 'empty' | 'match' = found === failOn ? found : 'ok';
  return {
    verdict,
    records: [...matches.values()].slice(0, limit),
    read,
    /** True if the list may go on after the last record. */
    isLimited: matches.size >= limit,
    warnings,
  };
}
