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
  return collect([{ records: [...keys.values()] }], settings, isOld);
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
  return collect(api.operations(projectId, withRetries(collaborators)), settings, isWanted);
}

export function listProjects({ orgId, ...settings }: ListProjectsSettings, collaborators: Collaborators) {
  return collect(collaborators.api.projects(withRetries(collaborators), orgId), settings);
}

/** Reads pages until `limit` records match, or until a page has no wanted record. */
async function collect<T extends ApiRecord>(
  pages: Iterable<Pick<Page<T>, 'records'>> | AsyncIterable<Page<T>>,
  { filter, limit, failOn }: ListSettings,
  isWanted: (record: T) => boolean = () => true,
) {
  // A record that is listed twice counts if the filter admits any of its versions.
  const matches = new Map<string, T>();
  let read = 0;
  for await (const { records } of pages) {
    read += records.length;
    for (const one of records) {
      filter.note(one.record);
      if (isWanted(one) && filter.admits(one.record)) matches.set(one.id, one);
    }
    // The newest operations come first, so no later page has one that `since` admits.
    if (matches.size >= limit || !records.some(isWanted)) break;
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
