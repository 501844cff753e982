import { expect, test } from 'vitest';
import { findMissing } from '../../../src/api/missing.js';
import type { Json } from '../../../src/text/json.js';

const announced = (place: string) => `the response announces another page (${place})`;

test.each([
  ...['</v2/keys?page=2>; rel="next"', "</v2/keys?page=2>; rel='next'", '</v2/keys?page=2>; REL="Next"'],
  ...['</v2/keys?page=2>;rel=next', '</v2/keys?page=2> ; rel = next ; title="more"', '</v2/keys?page=2>; rel="next'],
  ...['</v2/keys?page=2>; title="a; b, c"; rel="next"', '</v2/keys?page=2>; rel="nofollow next"'],
  '</v2/keys?page=1>; rel="prev", </v2/keys?page=3>; rel="next"',
  '</v2/keys?page=9>; rel="last",</v2/keys?filter=a,b;c>; rel="next"',
])('the header Link announces another page: “%s”', (link) => {
  expect(findMissing([], { link }).missing).toBe(announced('header link'));
});

test.each([
  ...['', '</v2/keys?page=1>; rel="first", </v2/keys?page=1>; rel="last"', '</v2/keys?a=;rel=next>; rel="self"'],
  ...['</v2/next>; rel="https://example.org/next"', '</v2/keys>; rel="describedby"; title="; rel=next"'],
  ...['</v2/keys>; rel="nextish"', '</v2/keys>; relation="next"'],
])('the header Link announces no other page: “%s”', (link) => {
  expect(findMissing([], { link, 'x-page': '1' }).missing).toBeUndefined();
});

test.each(['x-next-cursor', 'x-pagination-cursor', 'x-next-page', 'next-page-token', 'x-has-more'])(
  'the header %s announces another page, unless it is empty or null',
  (name) => {
    expect(findMissing([], { [name]: '2024-01-01T00:00:00.5Z' }).missing).toBe(announced(`header ${name}`));
    for (const none of ['', ' ', 'null', 'false', '0'])
      expect(findMissing([], { [name]: none }).missing).toBeUndefined();
  },
);

test.each<[body: Json, field: string]>([
  [{ cursor: 'c' }, 'cursor'],
  [{ next_cursor: 'c', pagination: {} }, 'next_cursor'],
  [{ next: 'https://control.test/v2/projects?page=2' }, 'next'],
  [{ pagination: { next_cursor: 'c' } }, 'next_cursor'],
  [{ pagination: { cursor: '', next: 2 } }, 'next'],
  [{ pagination: { nextCursor: 'c' } }, 'nextCursor'],
  [{ pagination: { has_more: true } }, 'has_more'],
  [{ hasNextPage: true }, 'hasNextPage'],
  [{ page_info: { continuation_token: 't' } }, 'continuation_token'],
  [{ meta: { nextPageToken: 't' } }, 'nextPageToken'],
  [{ _links: { next: { href: '/v2/projects?page=2' } } }, 'next'],
])('the body %j announces another page', (body, field) => {
  expect(findMissing(body, {})).toEqual({ missing: announced(`field ${field}`), isUnavailable: false });
});

test.each<[Json]>([
  [{ cursor: null, next_cursor: '', pagination: { cursor: null, next: null, has_more: false, limit: 100 } }],
  [{ _links: { next: { href: null } } }],
  [{ has_more: 0, unavailable_project_ids: 0, links: { self: '/v2/projects' } }],
  [{ unavailable_project_ids: [], pagination: null }],
  [{ unavailable_project_ids: null, projects: [{ cursor: 'c' }] }],
])('the body %j announces nothing else', (body) => {
  expect(findMissing(body, {})).toEqual({ missing: undefined, isUnavailable: false });
});

test('beside the documented cursor, no other one announces a page', () => {
  const headers = { link: '</v2/projects?page=2>; rel="next"', 'x-next-page': '2' };
  const body = { next_cursor: 'd', pagination: { cursor: 'c', next: 'd' } };
  expect(findMissing(body, headers, 'c').missing).toBeUndefined();
});

test('projects that the service could not read are named without control characters, at most twenty of them', () => {
  const ids = ['p-\u001b[31m1\n', 2, ...Array.from({ length: 21 }, (_, n) => `q-${n}`)];
  const { missing, isUnavailable } = findMissing({ unavailable_project_ids: ids }, {}, 'c');
  expect(missing).toMatch(/^the service could not read projects p- 1, 2, q-0, .* q-17, and 3 more$/);
  expect(isUnavailable).toBe(true);
});
