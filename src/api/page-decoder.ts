import { isAbsent, isObject, type Json, type JsonObject, toText } from '../text/json.js';
import { findMissing } from './missing.js';
import type { Page } from './paging.js';
import { type Decode, hasError, UnexpectedShapeError, unexpectedShape } from './response-shape.js';

/** Reads a page of a list. `name`: the field of the body that holds the list. */
export function pageDecoder<T>(name: string, parse: (item: Json, place: string) => T): Decode<Page<T>> {
  return (body, { headers }) => {
    if (!isObject(body)) {
      const type = Array.isArray(body) ? 'an array' : 'not an object';
      throw new UnexpectedShapeError(`\`${name}\` is missing: the body is ${type}`);
    }
    const list = body[name];
    if (!Array.isArray(list)) throw unexpectedShape(name, 'an array', list);
    if (list.length === 0 && hasError(body)) throw unexpectedShape('error', 'empty if the list is', body['error']);
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
