import { expect, test } from 'vitest';
import { type Page, pages } from '../../../src/api/paging.js';

interface Sent {
  readonly ids: string;
  readonly cursor?: string;
  readonly missing?: string;
}

/** Reads all pages of a service that sends these. Each letter of `ids` is the id of a record. */
async function readAll(sent: readonly Sent[], from?: string, seen = '') {
  const asked: (string | undefined)[] = [];
  const read: Page<{ id: string }>[] = [];
  let oldPages = 0;
  const fetchPage = async (at: string | undefined) => {
    const { ids, cursor, missing } = sent[asked.push(at) - 1] ?? { ids: '' };
    const isUnavailable = missing !== undefined;
    return { records: [...ids].map((id) => ({ id })), cursor, missing, isUnavailable };
  };
  const place = { cursor: from, seenIds: new Set(seen) };
  for await (const page of pages(fetchPage, () => void oldPages++, place)) read.push(page);
  const shown = read.map(({ records, cursor }) => `${records.map(({ id }) => id).join('')} ${cursor ?? 'end'}`);
  return {
    asked,
    shown,
    oldPages,
    missing: read.map(({ missing }) => missing),
    unavailable: read.at(-1)?.isUnavailable,
  };
}

test.each<[how: string, sent: readonly Sent[], shown: readonly string[]]>([
  ['without a cursor', [{ ids: 'ab', cursor: 'c' }, { ids: 'd' }], ['ab c', 'd end']],
  [
    'without records',
    [
      { ids: 'ab', cursor: 'c' },
      { ids: '', cursor: 'd' },
    ],
    ['ab c', ' end'],
  ],
  [
    'with an earlier cursor',
    [
      { ids: 'ab', cursor: 'c' },
      { ids: 'd', cursor: 'c' },
    ],
    ['ab c', 'd end'],
  ],
  ['that is the only one and empty', [{ ids: '' }], [' end']],
  ['without new records', [{ ids: 'aab', cursor: 'c' }, { ids: 'ba' }], ['ab c', ' end']],
])('a list yields its last page, one %s, and says that it ends there', async (_, sent, shown) => {
  expect((await readAll(sent)).shown).toEqual(shown);
});

test('a list that is read from a cursor goes on there, and ends where that cursor comes again', async () => {
  const { asked, shown } = await readAll(
    [
      { ids: 'd', cursor: 'e' },
      { ids: 'f', cursor: 'c' },
    ],
    'c',
  );
  expect(asked).toEqual(['c', 'e']);
  expect(shown).toEqual(['d e', 'f end']);
});

test('the last page of a list tells what earlier pages left out', async () => {
  const { missing, unavailable } = await readAll([
    { ids: 'a', cursor: 'c' },
    { ids: 'b', cursor: 'd', missing: 'b2' },
    { ids: 'e' },
  ]);
  expect(missing).toEqual([undefined, 'b2', 'b2']);
  expect(unavailable).toBe(true);
});

test('a page that has records but no new one is reported', async () => {
  const { shown, oldPages } = await readAll([{ ids: 'ab', cursor: 'c' }, { ids: 'ab', cursor: 'd' }, { ids: 'e' }]);
  expect(shown).toEqual(['ab c', ' d', 'e end']);
  expect(oldPages).toBe(1);
});

test('a list that is read from a cursor is known to have no new records by what was read before', async () => {
  expect(await readAll([{ ids: 'ab', cursor: '3' }, { ids: 'c' }], '2', 'ab')).toMatchObject({
    shown: [' 3', 'c end'],
    oldPages: 1,
  });
});

test('six pages without new records do not end a list if a page between them has one', async () => {
  const sent = ['a', 'a', 'a', 'a', 'b', 'a', 'a', 'a', 'c'].map((ids, n) => ({ ids, cursor: `${n}` }));
  const { shown, oldPages } = await readAll(sent);
  expect(shown.at(-2)).toBe('c 8');
  expect(oldPages).toBe(6);
});
