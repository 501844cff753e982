import { expect, test } from 'vitest';
import { type Page, pages } from '../../../src/api/paging.js';

test('paging from a cursor ends when that cursor repeats, and reports a page of known records', async () => {
  const asked: (string | undefined)[] = [];
  const fetchPage = async (at: string | undefined): Promise<Page<{ id: string }>> => {
    const [id, cursor] = asked.push(at) === 1 ? ['known', 'c-2'] : ['new', 'c-1'];
    return { records: [{ id }], cursor, missing: undefined, isUnavailable: false };
  };
  let oldPages = 0;
  const read = [];
  for await (const page of pages(fetchPage, () => oldPages++, { cursor: 'c-1', seenIds: new Set(['known']) }))
    read.push(page);
  expect(asked).toEqual(['c-1', 'c-2']);
  expect(read).toMatchObject([
    { records: [{ id: 'known' }], cursor: 'c-2' },
    { records: [{ id: 'new' }], cursor: undefined },
  ]);
  expect(oldPages).toBe(1);
});
