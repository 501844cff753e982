import type { HttpHeaders } from '../http/exchange.js';
import { hasContent, isObject, type Json, toText } from '../text/json.js';
import { sanitizeId } from '../text/sanitize-line.js';
import { joinFirst } from '../text/sentences.js';
import { hasError, UnexpectedShapeError } from './parse-response.js';

/** A list that says that it is not whole proves nothing, so it is an unusable response. `cursor`: the documented one. */
export function rejectPartialList(body: Json, headers: HttpHeaders, cursor?: string): void {
  const { unavailable_project_ids: unavailable = null } = isObject(body) ? body : {};
  if (hasContent(unavailable)) {
    const ids = [unavailable].flat().map((id) => sanitizeId(toText(id)));
    throw new UnexpectedShapeError(`the list is not whole: the service could not read projects ${joinFirst(ids)}`);
  }
  if (hasError(body)) throw new UnexpectedShapeError('the list comes with an error');
  if (cursor === undefined && hasNextLink(headers['link']))
    throw new UnexpectedShapeError('the list is not whole: the header link names another page');
}

/** A `Link` header (RFC 8288): `<target>; name="value"; name=value, <target>; …`. `rel` may hold several words. */
function hasNextLink(link = ''): boolean {
  // Link targets may contain `;` and `,`, which also separate parameters, so strip the targets first.
  const parameters = link.replace(/<[^<>]*>/g, '').matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,]*))/g);
  return [...parameters].some(([, name = '', quoted, bare = '']) => {
    const words = (quoted ?? bare).toLowerCase().split(/[\s"']+/);
    return name.toLowerCase() === 'rel' && words.includes('next');
  });
}
