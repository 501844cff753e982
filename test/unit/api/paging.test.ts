import { describe, expect, it } from 'vitest';
import { type Page, pages } from '../../../src/api/paging.js';

interface Item {
  readonly id: string;
}

interface Asked {
  readonly cursor: string | undefined;
}

/** Reads them all, at most so many pages: a reader that does not end is told apart. */
async function read(most: number, answer: (asked: Asked, n: number) => Partial<Page<Item>>) {
  const asked: Asked[] = [];
  const ids: string[] = [];
  let withoutNew = 0;
  const fetch = async (cursor: string | undefined): Promise<Page<Item>> => {
    asked.push({ cursor });
    if (asked.length > 50) throw new Error('no end');
    return { records: [], cursor: undefined, ...answer({ cursor }, asked.length) };
  };
  const list = pages(most, fetch, () => withoutNew++);
  for await (const page of list) ids.push(...page.map(({ id }) => id));
  return { asked, ids, withoutNew };
}

function items(from: number, count: number): Item[] {
  return Array.from({ length: count }, (_, n) => ({ id: String(from + n) }));
}

describe('paging', () => {
  it('gives no more records than the most, and asks for no page behind them', async () => {
    const { asked, ids } = await read(250, (_, n) => ({ records: items(n * 1_000, 100), cursor: `c${n}` }));
    expect(asked).toEqual([{ cursor: undefined }, { cursor: 'c1' }, { cursor: 'c2' }]);
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

  it('reports a service that ignores the cursor: its second page has nothing new', async () => {
    const { ids, asked, withoutNew } = await read(1_000, () => ({ records: items(0, 10), cursor: 'same' }));
    expect(ids).toHaveLength(10);
    expect(asked).toHaveLength(2);
    expect(withoutNew).toBe(1);
  });

  it('reports a last page whose cursor leads back to the beginning', async () => {
    const { ids, withoutNew } = await read(1_000, ({ cursor = '0' }) => ({
      records: items(Number(cursor), 20),
      cursor: cursor === '20' ? '0' : '20',
    }));
    expect(ids).toHaveLength(40);
    expect(withoutNew).toBe(1);
  });

  it('reports neither an empty page nor one that has a new record among old ones', async () => {
    const { withoutNew } = await read(1_000, (_, n) => ({ records: n < 5 ? items(n, 2) : [], cursor: `c${n}` }));
    expect(withoutNew).toBe(0);
  });

  it('fails at the sixth page in a row without a new record, and not at the fifth', async () => {
    const withOld = (old: number) =>
      read(1_000, (_, n) => ({ records: n > 1 + old ? [] : items(0, 10), cursor: `c${n}` }));
    expect(await withOld(5)).toMatchObject({ withoutNew: 5 });
    await expect(withOld(6)).rejects.toThrow('no new records');
  });

  it('gives no more than the most, though the service sends more', async () => {
    const { ids, asked } = await read(120, (_, n) => ({ records: items(n * 1_000, 500), cursor: `c${n}` }));
    expect(ids).toHaveLength(120);
    expect(asked).toHaveLength(1);
  });
});
