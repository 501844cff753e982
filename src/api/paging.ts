import { isAbsent, isObject, type Json, type JsonObject, toText } from '../text/json.js';
import { type Decode, UnexpectedShapeError, unexpectedShape } from './parse-response.js';
import { rejectPartialList } from './whole-list.js';

/** Records per page. */
export const pageSize = 100;

export interface Page<T> {
  readonly records: readonly T[];
  /** Where the list goes on. Undefined at the end of the list. */
  readonly cursor: string | undefined;
}

/** The place in a list where a page begins. */
export interface ListPlace {
  readonly cursor: string | undefined;
  /** The ids of the records on all pages before. */
  readonly seenIds: ReadonlySet<string>;
}

/** Reads a list from its beginning. If the list changes meanwhile, a record can appear twice, in two versions. */
export async function* pages<T extends { readonly id: string }>(
  fetchPage: (place: ListPlace) => Promise<Page<T>>,
): AsyncGenerator<Page<T>> {
  const seenIds = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await fetchPage({ cursor, seenIds });
    for (const { id } of page.records) seenIds.add(id);
    cursor = page.cursor;
    yield page;
  } while (cursor !== undefined);
}

/** Reads a page of a list. `name`: the field of the body that holds the list. */
export function pageDecoder<T extends { readonly id: string }>(
  name: string,
  parse: (item: Json, place: string) => T,
  { cursor: sent, seenIds }: ListPlace,
): Decode<Page<T>> {
  return (body, { headers }) => {
    if (!isObject(body)) {
      const type = Array.isArray(body) ? 'an array' : 'not an object';
      throw new UnexpectedShapeError(`\`${name}\` is missing: the body is ${type}`);
    }
    const cursor = parseCursor(body);
    rejectPartialList(body, headers, cursor);
    const list = body[name];
    if (!Array.isArray(list)) throw unexpectedShape(name, 'an array', list);
    const records = list.map((item, index) => parse(item, `${name}[${index}]`));
    if (records.length > 0 && cursor !== undefined && records.every(({ id }) => seenIds.has(id)))
      throw new UnexpectedShapeError('the list goes on, but this page has only records of earlier pages');
    return { records, cursor: records.length === 0 || cursor === sent ? undefined : cursor };
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
