import type { HttpHeaders } from '../http/exchange.js';
import { hasContent, idText, isAbsent, isObject, type Json } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { type Decode, hasError, UnexpectedShapeError, unexpectedShape } from './parse-response.js';

export interface Page<T> {
  readonly records: readonly T[];
  /** Undefined at the end of the list. */
  readonly cursor: string | undefined;
}

/** Reads a list, the field `name` of each body. If it changes meanwhile, a record can appear twice, in two versions. */
export async function* pages<T extends { readonly id: string }>(
  name: string,
  parse: (item: Json, place: string) => T,
  read: (cursor: string | undefined, decode: Decode<Page<T>>) => Promise<Page<T>>,
): AsyncGenerator<Page<T>> {
  const seenIds = new Set<string>();
  let sent: string | undefined;

  function decode(body: Json, headers: HttpHeaders): Page<T> {
    const { [name]: list, pagination } = isObject(body) ? body : {};
    const next = isObject(pagination) ? pagination['cursor'] : pagination;
    const isEnd = isAbsent(next) || next === '';
    const cursor = isEnd ? undefined : idText(next);
    // A cursor of an unexpected type is not the end of the list.
    if (!isEnd && cursor === undefined) throw unexpectedShape('pagination.cursor', 'a string', next);
    rejectPartialList(body, headers, cursor);
    if (!Array.isArray(list)) throw unexpectedShape(name, 'an array', list);
    const records = list.map((item, index) => parse(item, `${name}[${index}]`));
    if (records.length > 0 && cursor !== undefined && records.every(({ id }) => seenIds.has(id)))
      throw new UnexpectedShapeError('the list has a next page, although this page only repeats earlier records');
    return { records, cursor: records.length === 0 || cursor === sent ? undefined : cursor };
  }

  do {
    const page = await read(sent, decode);
    for (const { id } of page.records) seenIds.add(id);
    sent = page.cursor;
    yield page;
  } while (sent !== undefined);
}

/** A list that says that it is not whole proves nothing, so it is an unusable response. */
export function rejectPartialList(body: Json, { link = '' }: HttpHeaders, cursor?: string): void {
  const { unavailable_project_ids: unavailable } = isObject(body) ? body : {};
  const ids = sanitizeLine(JSON.stringify(unavailable ?? null));
  if (hasContent(unavailable)) throw new UnexpectedShapeError(`the list is not whole: it lacks the projects ${ids}`);
  if (hasError(body)) throw new UnexpectedShapeError('the list comes with an error');
  // The target of a link may contain anything.
  const hasNext = /;\s*rel\s*=\s*(?:next\b|"(?:[^"]*\s)?next[\s"])/i.test(link.replace(/<[^<>]*>/g, ''));
  if (cursor === undefined && hasNext)
    throw new UnexpectedShapeError('the list is not whole: the header link names another page');
}
