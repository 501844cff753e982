import { expect, test } from 'vitest';
import { findMissing } from '../../../src/api/missing.js';
import type { HttpHeaders } from '../../../src/http/exchange.js';
import type { Json } from '../../../src/text/json.js';

const cursorHeaders = ['x-next-cursor', 'x-pagination-cursor', 'x-next-page', 'next-page-token', 'x-has-more'];
const links = [
  ...['</v2/keys?page=2>; rel="next"', "</v2/keys?page=2>; rel='next'", '</v2/keys?page=2>; REL="Next"'],
  ...['</v2/keys?page=2>;rel=next', '</v2/keys?page=2> ; rel = next ; title="more"', '</v2/keys?page=2>; rel="next'],
  ...['</v2/keys?page=2>; title="a; b, c"; rel="next"', '</v2/keys?page=2>; rel="nofollow next"'],
  '</v2/keys?page=1>; rel="prev", </v2/keys?page=3>; rel="next"',
  '</v2/keys?page=9>; rel="last",</v2/keys?filter=a,b;c>; rel="next"',
];
test.each<[place: string, headers: HttpHeaders, body: Json]>([
  ...links.map((link): [string, HttpHeaders, Json] => ['header link', { link }, []]),
  ...cursorHeaders.map((name): [string, HttpHeaders, Json] => [`header ${name}`, { [name]: '2024-01-01' }, []]),
  ['field cursor', {}, { cursor: 'c' }],
  ['field next_cursor', {}, { next_cursor: 'c', pagination: {} }],
  ['field next', {}, { next: 'https://control.test/v2/projects?page=2' }],
  ['field next_cursor', {}, { pagination: { next_cursor: 'c' } }],
  ['field next', {}, { pagination: { cursor: '', next: 2 } }],
  ['field nextCursor', {}, { pagination: { nextCursor: 'c' } }],
  ['field has_more', {}, { pagination: { has_more: true } }],
  ['field hasNextPage', {}, { hasNextPage: true }],
  ['field continuation_token', {}, { page_info: { continuation_token: 't' } }],
  ['field nextPageToken', {}, { meta: { nextPageToken: 't' } }],
  ['field next', {}, { _links: { next: { href: '/v2/projects?page=2' } } }],
  ['field next-cursor', {}, { 'next-cursor': 'c' }],
  ['field next_cursor', {}, { meta: { pagination: { next_cursor: 'c' } } }],
  ['field next', {}, { cursors: { next: 'c' } }],
  ['field next_page_url', {}, { pagination: { next_page_url: '/v2/projects?page=2' } }],
  ['field rel', {}, { links: [{ rel: 'self' }, { rel: 'next', href: '/v2/projects?page=2' }] }],
])('the %s announces another page, as in %j %j', (place, headers, body) => {
  const missing = `the response announces another page (${place})`;
  expect(findMissing(body, headers)).toEqual({ missing, isUnavailable: false });
  expect(findMissing(body, headers, 'c').missing).toBeUndefined();
});

const otherLinks = [
  ...['', '</v2/keys?page=1>; rel="first", </v2/keys?page=1>; rel="last"', '</v2/keys?a=;rel=next>; rel="self"'],
  ...['</v2/next>; rel="https://example.org/next"', '</v2/keys>; rel="describedby"; title="; rel=next"'],
  ...['</v2/keys>; rel="nextish"', '</v2/keys>; relation="next"'],
];
const empty = ['', ' ', 'null', 'false', '0'].map((none) =>
  Object.fromEntries(cursorHeaders.map((name) => [name, none])),
);
test.each<[headers: HttpHeaders, body: Json]>([
  ...otherLinks.map((link): [HttpHeaders, Json] => [{ link, 'x-page': '1' }, []]),
  ...empty.map((headers): [HttpHeaders, Json] => [headers, []]),
  [{}, { cursor: null, next_cursor: '', pagination: { cursor: null, next: null, has_more: false, limit: 100 } }],
  [{}, { _links: { next: { href: null } } }],
  [{}, { links: [{ rel: 'prev', href: '/v2/projects?page=1' }], meta: { pagination: { next_cursor: null } } }],
  [{}, { has_more: 0, unavailable_project_ids: 0, links: { self: '/v2/projects' } }],
  [{}, { unavailable_project_ids: [], pagination: null }],
  [{}, { unavailable_project_ids: null, projects: [{ cursor: 'c' }] }],
])('a response with the headers %j and the body %j announces no other page', (headers, body) => {
  expect(findMissing(body, headers)).toEqual({ missing: undefined, isUnavailable: false });
});

test('projects that the service could not read are named without control characters, at most twenty of them', () => {
  const ids = ['p-\u001b[31m1\n', 2, ...Array.from({ length: 21 }, (_, n) => `q-${n}`)];
  const { missing, isUnavailable } = findMissing({ unavailable_project_ids: ids }, {}, 'c');
  expect(missing).toMatch(/^the service could not read projects p- 1, 2, q-0, .* q-17, and 3 more$/);
  expect(isUnavailable).toBe(true);
});
