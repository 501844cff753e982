import { type Operation, operationFields, timeOf } from '../api/records.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './lists/listing.js';
import { patiently } from './patience.js';

export const fieldsToListOperationsBy: readonly string[] = operationFields;

export type FoundOperations = Found<Operation>;

export interface ListOperationsSettings extends Wanted {
  readonly projectId: string;
  /** Milliseconds: only what was created within them. */
  readonly since: number | undefined;
}

/** The newest first. */
export async function listOperations(
  { projectId, since, ...wanted }: ListOperationsSettings,
  collaborators: Collaborators,
): Promise<FoundOperations> {
  // How much of the list must be read for so many records of a filter cannot be known.
  const most = wanted.limit === 0 || wanted.filter.isNarrow ? Number.POSITIVE_INFINITY : wanted.limit;
  const pages = collaborators.api.operations(projectId, most, patiently(collaborators));
  const begin = since === undefined ? undefined : collaborators.limit.clock.date() - since;
  return collect(begin === undefined ? pages : createdFrom(pages, begin), wanted, collaborators);
}

/** The list is in order of creation: behind the first that is older all are. */
async function* createdFrom(pages: AsyncIterable<Operation[]>, begin: number): AsyncGenerator<Operation[]> {
  for await (const page of pages) {
    const older = page.findIndex((operation) => (timeOf(operation, 'created_at') ?? begin) < begin);
    yield older < 0 ? page : page.slice(0, older);
    if (older >= 0) return;
  }
}
