import type { HttpHeaders } from '../http/exchange.js';
import { hasContent, idText, isAbsent, isObject, type Json, type JsonObject, toText } from '../text/json.js';
import { sanitizeId } from '../text/sanitize-line.js';
import { joinFirst } from '../text/sentences.js';
import { type Decode, hasError, UnexpectedShapeError, unexpectedShape } from './parse-response.js';

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
  if (isObject(pagination) && (isAbsent(cursor) || cursor === '')) return undefined;
  const text = idText(cursor);
  // A cursor of an unexpected type must not be treated as the end of the list, or the remaining pages would be missing.
  if (!isObject(pagination) || text === undefined) throw unexpectedShape('pagination.cursor', 'a string', cursor);
  return text;
}

/** A list that says that it is not whole proves nothing, so it is an unusable response. `cursor`: the documented one. */
export function rejectPartialList(body: Json, { link = '' }: HttpHeaders, cursor?: string): void {
  const { unavailable_project_ids: unavailable = null } = isObject(body) ? body : {};
  if (hasContent(unavailable)) {
    const ids = [unavailable].flat().map((id) => sanitizeId(toText(id)));
    throw new UnexpectedShapeError(`the list is not whole: the service could not read projects ${joinFirst(ids)}`);
  }
  if (hasError(body)) throw new UnexpectedShapeError('the list comes with an error');
  // The target of a link may contain anything.
  const hasNext = /;\s*rel\s*=\s*(?:next\b|"(?:[^"]*\s)?next[\s"])/i.test(link.replace(/<[^<>]*>/g, ''));
  if (cursor === undefined && hasNext)
    throw new UnexpectedShapeError('the list is not whole: the header link names another page');
}
