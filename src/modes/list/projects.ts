import { createHash } from 'node:crypto';
import type { ApiRecord } from '../../api/records.js';
import { type Collaborators, defaultPolicy } from '../mode.js';
import { collect, type ListResult, type ListSettings } from './collect.js';

/** Shares are counted from 1. */
export interface Shard {
  readonly number: number;
  readonly total: number;
}

export interface ListProjectsSettings extends ListSettings {
  readonly shard: Shard | undefined;
  readonly maxBatches: number;
}

export async function listProjects(
  { shard, ...wanted }: ListProjectsSettings,
  collaborators: Collaborators,
): Promise<ListResult> {
  const pages = collaborators.api.projects(defaultPolicy(collaborators));
  return collect(shard === undefined ? pages : takeShard(pages, shard), wanted, collaborators);
}

async function* takeShard(pages: AsyncIterable<ApiRecord[]>, { number, total }: Shard): AsyncGenerator<ApiRecord[]> {
  for await (const page of pages) yield page.filter(({ id }) => shardNumber(id, total) === number);
}

/** Counted from 1. The shard depends only on the id, so a project stays in it when other projects come or go. */
export function shardNumber(id: string, total: number): number {
  return (createHash('sha256').update(id).digest().readUIntBE(0, 6) % total) + 1;
}

/** Batch sizes differ by at most one. There are only as many batches as the largest size requires. */
export function splitIntoBatches(ids: readonly string[], maxBatches: number): string[][] {
  const largest = Math.ceil(ids.length / maxBatches);
  const number = Math.ceil(ids.length / Math.max(1, largest));
  return Array.from({ length: number }, (_, index) =>
    ids.slice(Math.floor((index * ids.length) / number), Math.floor(((index + 1) * ids.length) / number)),
  );
}
