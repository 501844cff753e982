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
  ['ends at an empty cursor', ['new'], '', undefined],
  ['ends at a cursor that is null', ['new'], null, undefined],
  ['goes on after a page with a new and a known record', ['known', 'new'], 'c-2', 'c-2'],
  ['ends at a page of known records without a cursor', ['known'], undefined, undefined],
])('a list %s', async (_, ids, cursor, next) => {
  expect(await secondPage(ids, cursor)).toEqual({ records: ids.map((id) => ({ id })), cursor: next });
});

test.each<[cursor: Json]>([[true], [{}], [['c-2']]])(
  'a cursor %j is an unusable response, not an end',
  async (cursor) => {
    await expect(secondPage(['new'], cursor)).rejects.toThrow(/pagination\.cursor/);
  },
);

const target = '</v2/keys?page=2>';
const nextLinks = ['; rel="next"', ';REL=Next', '; title="a; b, c"; rel="next"', '; rel="nofollow next"'];
test.each(nextLinks)('a list with a link %s is whole only if it has a cursor', (rel) => {
  expect(() => rejectPartialList([], { link: target + rel })).toThrow(UnexpectedShapeError);
  expect(() => rejectPartialList([], { link: target + rel }, 'c')).not.toThrow();
});

const otherLinks = ['', `${target}; rel="last"`, '</v2/keys?a=;rel=next>; rel="self"', `${target}; rel="nextish"`];
test.each([undefined, ...otherLinks])('the header link %s announces no other page', (link) => {
  expect(() => rejectPartialList([], { link })).not.toThrow();
});

test.each<[body: Json]>([
  [{ unavailable_project_ids: null, error: null, errors: [] }],
  // Only the documented cursor says that a list goes on.
  [{ has_more: true, next_cursor: 'c', _links: { next: { href: '/v2/projects?page=2' } } }],
])('a list that comes with %j is whole', (body) => {
  expect(() => rejectPartialList(body, {})).not.toThrow();
});
