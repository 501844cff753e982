import { fieldTime, type Operation } from '../../api/records.js';
import { type Collaborators, defaultPolicy } from '../mode.js';
import { collect, type ListResult, type ListSettings } from './collect.js';

export interface ListOperationsSettings extends ListSettings {
  readonly projectId: string;
  /** Milliseconds. Only operations that were created within this time are listed. */
  readonly since: number | undefined;
}

/** The newest operation comes first. */
export async function listOperations(
  { projectId, since, ...wanted }: ListOperationsSettings,
  collaborators: Collaborators,
): Promise<ListResult<Operation>> {
  const { api, deadline } = collaborators;
  const pages = api.operations(projectId, Number.POSITIVE_INFINITY, defaultPolicy(collaborators));
  const recent = since === undefined ? pages : takeSince(pages, () => api.serviceEpochMs(deadline.clock) - since);
  return collect(recent, wanted, collaborators);
}

/**
 * Stops at the first operation that was created before `sinceMs`: the list is sorted newest first, so all later ones are
 * older too. `sinceMs` is called after the first page, because only a response shows the service's clock.
 */
async function* takeSince(pages: AsyncIterable<Operation[]>, sinceMs: () => number): AsyncGenerator<Operation[]> {
  let known: number | undefined;
  for await (const page of pages) {
    known ??= sinceMs();
    const begin = known;
    const older = page.findIndex((operation) => (fieldTime(operation, 'created_at') ?? begin) < begin);
    yield older < 0 ? page : page.slice(0, older);
    if (older >= 0) return;
  }
}
