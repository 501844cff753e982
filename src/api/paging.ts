import { ApiError } from '../http/errors.js';

const largestPage = 100;
/** Pages in a row that hold nothing new. */
const mostBarren = 5;

export interface Page<T> {
  readonly records: T[];
  readonly cursor: string | undefined;
}

/**
 * A list, page by page, until `most` records, an empty page, or a cursor that is missing or was seen before. A record that
 * comes twice, because the list moved under the reader, is given once.
 */
export async function* pages<T extends { readonly id: string }>(
  most: number,
  fetch: (cursor: string | undefined, limit: number) => Promise<Page<T>>,
): AsyncGenerator<T[]> {
  const seenCursors = new Set<string>();
  const seenIds = new Set<string>();
  let cursor: string | undefined;
  let barren = 0;
  do {
    // What leads back to the beginning is walked through in large steps.
    const limit = barren > 0 ? largestPage : Math.min(largestPage, most - seenIds.size);
    const page = await fetch(cursor, limit);
    const fresh: T[] = [];
    for (const record of page.records) {
      if (seenIds.size >= most || seenIds.has(record.id)) continue;
      seenIds.add(record.id);
      fresh.push(record);
    }
    if (fresh.length > 0) yield fresh;
    if (page.records.length === 0) return;
    cursor = page.cursor;
    if (cursor === undefined || seenCursors.has(cursor)) return;
    barren = fresh.length === 0 ? barren + 1 : 0;
    if (barren > mostBarren)
      throw new ApiError('The list goes on, but has nothing new on its pages', { status: 200, transient: false });
    seenCursors.add(cursor);
  } while (seenIds.size < most);
}
