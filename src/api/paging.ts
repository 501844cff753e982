import { RequestError } from '../http/errors.js';

/** Records per page. A smaller `limit` still reads a whole page, which shows whether the limit truncated the list. */
export const pageSize = 100;
/** Maximum number of pages in a row without new records. A list with more such pages may never end. */
const maxPagesWithoutNew = 5;
const noNewRecords = 'The list has more pages, but they contain no new records';

export interface Page<T> {
  readonly records: T[];
  readonly cursor: string | undefined;
}

/**
 * Reads a list page by page. Stops after `max` records, at an empty page, and at a missing or repeated cursor. A record can
 * appear twice if the list changes during the read, so duplicates are dropped. A page of only duplicates is reported: the
 * service may be ignoring the cursor, and then the rest of the list is missing.
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
    if (pagesWithoutNew > maxPagesWithoutNew) throw new RequestError(noNewRecords, { status: 200, transient: false });
    seenCursors.add(cursor);
  } while (seenIds.size < max);
}
