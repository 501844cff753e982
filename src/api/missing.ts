import type { HttpHeaders } from '../http/exchange.js';
import { hasContent, isObject, type Json, toText } from '../text/json.js';
import { sanitizeId } from '../text/sanitize-line.js';
import { joinFirst } from '../text/sentences.js';
import { words } from './records.js';

export interface Missing {
  /** For a message: says what is missing, or why. Undefined if nothing is missing. */
  readonly missing: string | undefined;
  /** True if the service could not read some of the records. Another response may contain them. */
  readonly isUnavailable: boolean;
}

/** `cursor`: the documented cursor. With it, paging reads the next page, so other signs of a next page do not matter. */
export function findMissing(body: Json, headers: HttpHeaders, cursor?: string): Missing {
  const { unavailable_project_ids: unavailable = null } = isObject(body) ? body : {};
  if (hasContent(unavailable)) {
    const ids = [unavailable].flat().map((id) => sanitizeId(toText(id)));
    return { missing: `the service could not read projects ${joinFirst(ids)}`, isUnavailable: true };
  }
  const place = cursor === undefined ? nextPagePlace(body, headers) : undefined;
  const missing = place && `the response announces another page (${place})`;
  return { missing, isUnavailable: false };
}

/** Web services announce another page with one of these headers. */
const cursorHeaders = words(
  'x-next-cursor next-cursor x-cursor x-pagination-cursor x-next-page x-next-page-token next-page-token x-has-more x-has-next x-next x-truncated',
);
/** Or with one of these fields in the body or in its `cursorPlaces`. The names are in lower case, without `_` and `-`. */
const cursorFields = words(
  'cursor next nextcursor nextpage nextpagetoken nexttoken nextoffset nextpageurl nextmarker continuationtoken nexturl nextlink more hasmore hasnext hasnextpage truncated istruncated',
);
const cursorPlaces = words('pagination paging page pageinfo meta links cursors');
const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/** Names the header or field that announces another page. The API documents no request for that page. */
function nextPagePlace(body: Json, headers: HttpHeaders): string | undefined {
  const header =
    cursorHeaders.find((name) => hasContent(headers[name])) ?? (hasNextLink(headers['link']) ? 'link' : undefined);
  if (header !== undefined) return `header ${header}`;
  if (!isObject(body)) return undefined;
  const entries = (places: Json[]) => places.filter(isObject).flatMap((place) => Object.entries(place));
  const inside = (places: Json[]) =>
    entries(places).flatMap(([name, value]) => (cursorPlaces.includes(plain(name)) ? value : []));
  const fields = entries([body, ...inside([body]), ...inside(inside([body]))]);
  // A link may be an object, such as `{ "href": null }`.
  const isSet = (value: Json) => (isObject(value) ? Object.values(value).some(hasContent) : hasContent(value));
  const announces = ([name, value]: [string, Json]) =>
    cursorFields.includes(plain(name)) ? isSet(value) : name === 'rel' && value === 'next';
  const [name] = fields.find(announces) ?? [];
  return name && `field ${name}`;
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
