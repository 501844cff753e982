import { RequestError } from '../http/errors.js';

/** Records per page. A fixed size, so that a smaller `limit` sees whether it cut the list. */
export const pageSize = 100;
/** Pages in a row. With more of them the list would never end. */
const maxPagesWithoutNew = 5;

export interface Page<T> {
  readonly records: T[];
  readonly cursor: string | undefined;
}

/**
 * Reads a list page by page, until `max` records, an empty page, or a cursor that is missing or was seen before. A record
 * can come twice if the list changes meanwhile; duplicates are dropped. A page with records but no new one is reported,
 * because a service that ignores the cursor would hide the rest of the list.
 */
export async function* pages<T extends { readonly id: string }>(
  max: number,
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
  onPageWithoutNew: () => void,
): AsyncGenerator<T[]> {
  const seenCursors = new Set<string>();
  const seenIds = new Set<string>();
  let cursor: string | undefined;
  let pagesWithoutNew = 0;
  do {
    const page = await fetchPage(cursor);
    if (page.records.length === 0) return;
    const fresh: T[] = [];
    for (const record of page.records) {
      if (seenIds.size >= max || seenIds.has(record.id)) continue;
      seenIds.add(record.id);
      fresh.push(record);
    }
    if (fresh.length > 0) yield fresh;
    else onPageWithoutNew();
    cursor = page.cursor;
    if (cursor === undefined || seenCursors.has(cursor)) return;
    pagesWithoutNew = fresh.length === 0 ? pagesWithoutNew + 1 : 0;
    if (pagesWithoutNew > maxPagesWithoutNew)
      throw new RequestError('The list has more pages, but they contain no new records', {
        status: 200,
        transient: false,
      });
    seenCursors.add(cursor);
  } while (seenIds.size < max);
}
