import { createHash } from 'node:crypto';
import { projectFields, type Recorded } from '../api/records.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './lists/listing.js';
import { patiently } from './patience.js';

export const fieldsToListProjectsBy: readonly string[] = projectFields;

/** Shares are counted from 1. */
export interface Shard {
  readonly number: number;
  readonly of: number;
}

export interface ListProjectsSettings extends Wanted {
  readonly shard: Shard | undefined;
  readonly maxBatches: number;
}

export async function listProjects(
  { shard, ...wanted }: ListProjectsSettings,
  collaborators: Collaborators,
): Promise<Found> {
  const pages = collaborators.api.projects(patiently(collaborators));
  return collect(shard === undefined ? pages : ofShard(pages, shard), wanted, collaborators);
}

async function* ofShard(pages: AsyncIterable<Recorded[]>, { number, of }: Shard): AsyncGenerator<Recorded[]> {
  for await (const page of pages) yield page.filter(({ id }) => shareOf(id, of) === number);
}

/** Counted from 1. The share depends on the id alone, so a project keeps it when other projects come or go. */
export function shareOf(id: string, shares: number): number {
  return (createHash('sha256').update(id).digest().readUIntBE(0, 6) % shares) + 1;
}

/** Batch sizes differ by at most one. There are only as many batches as the largest size requires. */
export function batchesOf(ids: readonly string[], maxBatches: number): string[][] {
  const largest = Math.ceil(ids.length / maxBatches);
  const number = Math.ceil(ids.length / Math.max(1, largest));
  return Array.from({ length: number }, (_, index) =>
    ids.slice(Math.floor((index * ids.length) / number), Math.floor(((index + 1) * ids.length) / number)),
  );
}
