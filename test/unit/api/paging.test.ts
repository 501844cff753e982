import { describe, expect, it } from 'vitest';
import { type Page, pages } from '../../../src/api/paging.js';

interface Item {
  readonly id: string;
}

interface Asked {
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** Reads them all, at most so many pages: a reader that does not end is told apart. */
async function read(most: number, answer: (asked: Asked, n: number) => Partial<Page<Item>>) {
  const asked: Asked[] = [];
  const ids: string[] = [];
  const fetch = async (cursor: string | undefined, limit: number): Promise<Page<Item>> => {
    asked.push({ cursor, limit });
    if (asked.length > 50) throw new Error('no end');
    return { records: [], cursor: undefined, ...answer({ cursor, limit }, asked.length) };
  };
  for await (const page of pages(most, fetch)) ids.push(...page.map(({ id }) => id));
  return { asked, ids };
}

function items(from: number, count: number): Item[] {
  return Array.from({ length: count }, (_, n) => ({ id: String(from + n) }));
}

describe('paging', () => {
  it('asks for pages of 100, or of what is left of the most', async () => {
    const { asked, ids } = await read(250, ({ limit }, n) => ({
      records: items(n * 1_000, limit),
      cursor: `c${n}`,
    }));
    expect(asked).toEqual([
      { cursor: undefined, limit: 100 },
      { cursor: 'c1', limit: 100 },
      { cursor: 'c2', limit: 50 },
    ]);
    expect(ids).toHaveLength(250);
  });

  it('stops at an empty page, even with a cursor', async () => {
    const { asked, ids } = await read(200, (_, n) => ({ records: n === 1 ? items(0, 3) : [], cursor: `c${n}` }));
    expect(asked).toHaveLength(2);
    expect(ids).toEqual(['0', '1', '2']);
  });

  it('stops at a missing cursor', async () => {
    const { asked } = await read(200, () => ({ records: items(0, 3) }));
    expect(asked).toHaveLength(1);
  });

  it('stops at a cursor that was seen before, be it the last or an older one', async () => {
    const same = await read(1_000, (_, n) => ({ records: items(n * 10, 10), cursor: 'same' }));
    expect(same.asked).toHaveLength(2);
    const circle = await read(1_000, (_, n) => ({ records: items(n * 10, 10), cursor: `c${n % 3}` }));
    expect(circle.asked).toHaveLength(4);
    expect(circle.ids).toHaveLength(40);
  });

  it('gives a record that comes twice once, and goes on behind a page that holds nothing new', async () => {
    const { ids, asked } = await read(1_000, (_, n) => ({
      records: n === 1 ? items(0, 10) : n === 2 ? items(0, 10) : n === 3 ? items(5, 10) : [],
      cursor: `c${n}`,
    }));
    expect(ids).toEqual(Array.from({ length: 15 }, (_, n) => String(n)));
    expect(asked).toHaveLength(4);
  });

  it('ends where the cursor of the only page leads back to it, however few records are left to be asked for', async () => {
    const list = items(0, 40);
    const { ids, asked } = await read(41, ({ cursor = '0', limit }) => {
      const from = Number(cursor);
      const records = list.slice(from, from + limit);
      const isLast = from + limit >= list.length;
      return { records, cursor: isLast ? cursor : String(from + limit) };
    });
    expect(ids).toHaveLength(40);
    expect(asked.length).toBeLessThan(5);
  });

  it('gives no more than the most, though the service sends more', async () => {
    const { ids, asked } = await read(120, (_, n) => ({ records: items(n * 1_000, 500), cursor: `c${n}` }));
    expect(ids).toHaveLength(120);
    expect(asked).toHaveLength(1);
  });
});
