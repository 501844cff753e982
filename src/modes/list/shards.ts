import { createHash } from 'node:crypto';

/** The number depends only on the id. So a project stays in its shard when other projects come and go. */
export function shardNumber(id: string, total: number): number {
  return (createHash('sha256').update(id).digest().readUIntBE(0, 6) % total) + 1;
}

/** Makes the largest batch as small as `maxBatches` allows, with as few batches as possible. Sizes differ by at most one. */
export function splitIntoBatches(ids: readonly string[], maxBatches: number): string[][] {
  const largest = Math.ceil(ids.length / maxBatches);
  const number = Math.ceil(ids.length / Math.max(1, largest));
  return Array.from({ length: number }, (_, index) =>
    ids.slice(Math.floor((index * ids.length) / number), Math.floor(((index + 1) * ids.length) / number)),
  );
}
