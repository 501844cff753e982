import { expect, test } from 'vitest';
import { pages, rejectPartialList } from '../../../src/api/paging.js';
import { UnexpectedShapeError } from '../../../src/api/parse-response.js';
import { isObject, type Json, toText } from '../../../src/text/json.js';

const parse = (item: Json) => ({ id: isObject(item) ? toText(item['id'] ?? '') : '' });

/** Reads a list whose first page has the record `known` and the cursor `c-1`. Returns its second page. */
async function secondPage(ids: readonly string[], cursor?: Json) {
  const bodyOf = (ids: readonly string[], cursor?: Json) => ({
    items: ids.map((id) => ({ id })),
    ...(cursor === undefined ? {} : { pagination: { cursor } }),
  });
  const bodies = [bodyOf(['known'], 'c-1'), bodyOf(ids, cursor)];
  const list = pages('items', parse, async (_, decode) => decode(bodies.shift() ?? null, {}));
  await list.next();
  return (await list.next()).value;
}

test.each<[title: string, ids: string[], cursor: Json | undefined, next: string | undefined]>([
  ['ends at a page with an empty cursor', ['new'], '', undefined],
  ['ends at a page whose cursor is null', ['new'], null, undefined],
  ['continues after a page with a new and a known record', ['known', 'new'], 'c-2', 'c-2'],
  ['ends at a page of known records without a cursor', ['known'], undefined, undefined],
])('a list %s', async (_, ids, cursor, next) => {
  expect(await secondPage(ids, cursor)).toEqual({ records: ids.map((id) => ({ id })), cursor: next });
});

test.each<[what: string, cursor: Json]>([
  ['a boolean', true],
  ['an object', {}],
  ['an array', ['c-2']],
])('a list fails if the cursor of a page is %s', async (_, cursor) => {
  await expect(secondPage(['new'], cursor)).rejects.toThrow(/pagination\.cursor/);
});

const target = '</v2/keys?page=2>';
const nextLinks = ['; rel="next"', ';REL=Next', '; title="a; b, c"; rel="next"', '; rel="nofollow next"'];
test.each(nextLinks)('a list with the header “Link: <URL>%s” fails if it has no cursor', (rel) => {
  expect(() => rejectPartialList([], { link: target + rel })).toThrow(UnexpectedShapeError);
  expect(() => rejectPartialList([], { link: target + rel }, 'c')).not.toThrow();
});

test.each([
  ['no Link header', undefined],
  ['an empty Link header', ''],
  ['a link to the last page', `${target}; rel="last"`],
  ['a link whose URL contains rel=next', '</v2/keys?a=;rel=next>; rel="self"'],
  ['a link with the unknown relation “nextish”', `${target}; rel="nextish"`],
])('a list with %s and no cursor is complete', (_, link) => {
  expect(() => rejectPartialList([], { link })).not.toThrow();
});

test.each<[what: string, body: Json]>([
  ['empty error fields', { unavailable_project_ids: null, error: null, errors: [] }],
  // Only the documented cursor says that a list goes on.
  ['undocumented cursors', { has_more: true, next_cursor: 'c', _links: { next: { href: '/v2/projects?page=2' } } }],
])('a list with %s is complete', (_, body) => {
  expect(() => rejectPartialList(body, {})).not.toThrow();
});
