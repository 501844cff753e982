import { RequestError } from '../http/errors.js';
import { isAbsent, isObject, type Json, type JsonObject, toText } from '../text/json.js';
import { findMissing, type Missing } from './missing.js';
import { type Decode, hasError, UnexpectedShapeError, unexpectedShape } from './parse-response.js';

/** Records per page. A smaller `limit` still reads a whole page, which shows whether the limit truncated the list. */
export const pageSize = 100;
/** Maximum number of pages in a row without new records. A list with more such pages may never end. */
const maxPagesWithoutNew = 5;

/** A list that cannot be read to its end: no later request can help. */
export class UnreadableList extends RequestError {
  constructor(message: string) {
    super(message, { status: 200, transient: false });
  }
}

export interface Page<T> extends Missing {
  readonly records: readonly T[];
  /** Where the list goes on. Undefined at the end of the list. */
  readonly cursor: string | undefined;
}

/** The place in a list where `pages` goes on. It adds the ids of each page to `seenIds`. */
export interface ListPlace {
  readonly cursor: string | undefined;
  readonly seenIds: Set<string>;
}

/**
 * Reads a list page by page, from its beginning or a given place. The list ends at an empty page, and at a missing or repeated
 * cursor. The last page is always yielded. If the list changes during the read, a record can appear twice, in two versions. If
 * a page has only records of earlier pages, this is reported: the service may be ignoring the cursor. The last page also says
 * what is missing according to earlier pages, so it tells whether the list is whole.
 */
export async function* pages<T extends { readonly id: string }>(
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
  onPageWithoutNew: () => void,
  { cursor: from, seenIds }: ListPlace = { cursor: undefined, seenIds: new Set() },
): AsyncGenerator<Page<T>> {
  const endingCursors = new Set<string | undefined>([undefined, from]);
  let cursor = from;
  // The first page that reports missing records. No later page contains these records.
  let sign: Missing = { missing: undefined, isUnavailable: false };
  let pagesWithoutNew = 0;
  do {
    const page = await fetchPage(cursor);
    const seen = seenIds.size;
    for (const { id } of page.records) seenIds.add(id);
    const isOld = seenIds.size === seen && page.records.length > 0;
    if (isOld) onPageWithoutNew();
    pagesWithoutNew = isOld ? pagesWithoutNew + 1 : 0;
    cursor = page.records.length === 0 || endingCursors.has(page.cursor) ? undefined : page.cursor;
    if (cursor !== undefined && pagesWithoutNew > maxPagesWithoutNew)
      throw new UnreadableList('The list has more pages, but they contain no new records');
    endingCursors.add(cursor);
    if (sign.missing === undefined) sign = page;
    yield { ...sign, records: page.records, cursor };
  } while (cursor !== undefined);
}

/** Reads a page of a list. `name`: the field of the body that holds the list. */
export function pageDecoder<T>(name: string, parse: (item: Json, place: string) => T): Decode<Page<T>> {
  return (body, { headers }) => {
    if (!isObject(body)) {
      const type = Array.isArray(body) ? 'an array' : 'not an object';
      throw new UnexpectedShapeError(`\`${name}\` is missing: the body is ${type}`);
    }
    const list = body[name];
    if (!Array.isArray(list)) throw unexpectedShape(name, 'an array', list);
    if (list.length === 0 && hasError(body))
      throw new UnexpectedShapeError('the list is empty, but the response has an `error`');
    const cursor = parseCursor(body);
    const records = list.map((item, index) => parse(item, `${name}[${index}]`));
    return { records, cursor, ...findMissing(body, headers, cursor) };
  };
}

function parseCursor({ pagination }: JsonObject): string | undefined {
  if (isAbsent(pagination)) return undefined;
  const cursor = isObject(pagination) ? pagination['cursor'] : pagination;
  // A cursor of an unexpected type must not be treated as the end of the list, or the remaining pages would be missing.
  if (!isObject(pagination) || typeof cursor === 'boolean' || (typeof cursor === 'object' && cursor !== null))
    throw unexpectedShape('pagination.cursor', 'a string', cursor);
  return isAbsent(cursor) || cursor === '' ? undefined : toText(cursor);
}
