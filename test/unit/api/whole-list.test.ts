import { expect, test } from 'vitest';
import { UnexpectedShapeError } from '../../../src/api/parse-response.js';
import { rejectPartialList } from '../../../src/api/whole-list.js';
import type { Json } from '../../../src/text/json.js';

const nextLinks = [
  ...['</v2/keys?page=2>; rel="next"', "</v2/keys?page=2>; rel='next'", '</v2/keys?page=2>; REL="Next"'],
  ...['</v2/keys?page=2>;rel=next', '</v2/keys?page=2> ; rel = next ; title="more"', '</v2/keys?page=2>; rel="next'],
  ...['</v2/keys?page=2>; title="a; b, c"; rel="next"', '</v2/keys?page=2>; rel="nofollow next"'],
  '</v2/keys?page=1>; rel="prev", </v2/keys?page=3>; rel="next"',
  '</v2/keys?page=9>; rel="last",</v2/keys?filter=a,b;c>; rel="next"',
];

test.each(nextLinks)('a list with the header link %s is whole only if it has a cursor', (link) => {
  expect(() => rejectPartialList([], { link })).toThrow(UnexpectedShapeError);
  expect(() => rejectPartialList([], { link }, 'c')).not.toThrow();
});

const otherLinks = [
  ...['', '</v2/keys?page=1>; rel="first", </v2/keys?page=1>; rel="last"', '</v2/keys?a=;rel=next>; rel="self"'],
  ...['</v2/next>; rel="https://example.org/next"', '</v2/keys>; rel="describedby"; title="; rel=next"'],
  ...['</v2/keys?a=;rel="next">; rel="self"', '</v2/keys>; rel="nextish"', '</v2/keys>; relation="next"'],
];

test.each([undefined, ...otherLinks])('the header link %s announces no other page', (link) => {
  expect(() => rejectPartialList([], { link })).not.toThrow();
});

test.each<[body: Json]>([
  [{ unavailable_project_ids: ['p-1'] }],
  [{ unavailable_project_ids: 'p-1' }],
  [{ error: 'a shard is down' }],
  [{ error: { code: 'TIMEOUT' } }],
  [{ errors: [{ message: 'a shard is down' }] }],
])('a list that comes with %j is not whole, even with a cursor', (body) => {
  for (const cursor of [undefined, 'c'])
    expect(() => rejectPartialList(body, {}, cursor)).toThrow(UnexpectedShapeError);
});

test.each<[body: Json]>([
  [[]],
  [{ unavailable_project_ids: [] }],
  [{ unavailable_project_ids: null, error: null, errors: [] }],
  [{ error: '', errors: {} }],
  // Only the documented cursor says that a list goes on.
  [{ has_more: true, next_cursor: 'c', _links: { next: { href: '/v2/projects?page=2' } } }],
])('a list that comes with %j is whole', (body) => {
  expect(() => rejectPartialList(body, {})).not.toThrow();
});

test('the error names projects that the service could not read without control characters, at most twenty of them', () => {
  const ids = ['p-\u001b[31m1\n', 2, ...Array.from({ length: 21 }, (_, n) => `q-${n}`)];
  const reject = () => rejectPartialList({ unavailable_project_ids: ids }, {}, 'c');
  expect(reject).toThrow(/could not read projects p- 1, 2, q-0, .* q-17, and 3 more$/);
});
