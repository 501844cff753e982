import { expect, test } from 'vitest';
import { announcesMore, parseKeyList } from '../../../src/api/keys.js';

test.each([
  '</v2/api_keys?page=2>; rel="next"',
  "</v2/api_keys?page=2>; rel='next'",
  '</v2/api_keys?page=2>; REL="Next"',
  '</v2/api_keys?page=2>;rel=next',
  '</v2/api_keys?page=2> ; rel = next ; title="more"',
  '</v2/api_keys?page=2>; title="a; b, c"; rel="next"',
  '</v2/api_keys?page=2>; rel="nofollow next"',
  '</v2/api_keys?page=1>; rel="prev", </v2/api_keys?page=3>; rel="next"',
  '</v2/api_keys?page=9>; rel="last",</v2/api_keys?filter=a,b;c>; rel="next"',
  '</v2/api_keys?page=2>; rel="next',
])('the header Link announces another page: “%s”', (link) => {
  expect(announcesMore({ link })).toBe(true);
});

test.each([
  '',
  '</v2/api_keys?page=1>; rel="first", </v2/api_keys?page=1>; rel="last"',
  '</v2/api_keys?a=;rel=next>; rel="self"',
  '</v2/next>; rel="https://example.org/next"',
  '</v2/api_keys>; rel="describedby"; title="; rel=next"',
  '</v2/api_keys>; rel="nextish"',
  '</v2/api_keys>; relation="next"',
])('the header Link announces no other page: “%s”', (link) => {
  expect(announcesMore({ link, 'x-page': '1' })).toBe(false);
});

test.each(['x-next-cursor', 'next-cursor', 'x-cursor', 'x-pagination-cursor', 'x-next-page'])(
  'the header %s announces another page, unless it is empty or null',
  (name) => {
    expect(announcesMore({ [name]: '2024-01-01T00:00:00.5Z' })).toBe(true);
    for (const none of ['', ' ', 'null']) expect(announcesMore({ [name]: none })).toBe(false);
  },
);

test('a list of keys with the status 203 is rejected', () => {
  const response = { status: 203, headers: {}, body: '[]' };
  expect(() => parseKeyList([], response)).toThrow('`status` should be 200, but is 203');
});
