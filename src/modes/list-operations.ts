import { type Operation, operationFields, timeOf } from '../api/records.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './lists/listing.js';
import { patiently } from './patience.js';

export const fieldsToListOperationsBy: readonly string[] = operationFields;

export type FoundOperations = Found<Operation>;

export interface ListOperationsSettings extends Wanted {
  readonly projectId: string;
  /** Milliseconds. Only operations that were created within this time are listed. */
  readonly since: number | undefined;
}

/** The newest operation comes first. */
export async function listOperations(
  { projectId, since, ...wanted }: ListOperationsSettings,
  collaborators: Collaborators,
): Promise<FoundOperations> {
  const { api, limit } = collaborators;
  const pages = api.operations(projectId, Number.POSITIVE_INFINITY, patiently(collaborators));
  const recent = since === undefined ? pages : createdFrom(pages, () => api.epochMs(limit.clock) - since);
  return collect(recent, wanted, collaborators);
}

/**
 * The list is sorted by creation, newest first: all operations after the first older one are older too. `beginMs` is
 * called after the first page, because only a response shows the service's clock.
 */
async function* createdFrom(pages: AsyncIterable<Operation[]>, beginMs: () => number): AsyncGenerator<Operation[]> {
  let known: number | undefined;
  for await (const page of pages) {
    known ??= beginMs();
    const begin = known;
    const older = page.findIndex((operation) => (timeOf(operation, 'created_at') ?? begin) < begin);
    yield older < 0 ? page : page.slice(0, older);
    if (older >= 0) return;
  }
}
