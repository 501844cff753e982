import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createControlPlane, ManualClock } from '../../control-plane/index.js';
import type { NotShown } from '../../control-plane/not-shown.js';
import type { ControlPlane } from '../../control-plane/plane.js';
import { ask } from './asking.js';

interface Page {
  readonly ids: readonly string[];
  readonly cursor: string | null | undefined;
}

function readPage(
  plane: ControlPlane,
  list: 'operations' | 'projects',
  limit: number,
  cursor: string | undefined,
): Page {
  const path = list === 'projects' ? '/v2/projects' : `/v2/projects/${plane.projectIds.at(-1)}/operations`;
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === undefined ? {} : { cursor }) });
  const body = JSON.parse(ask(plane, `${path}?${query}`).body);
  return { ids: body[list].map(({ id }: { id: string }) => id), cursor: body.pagination.cursor };
}

/** Turns pages as a careful client does, doing something else before each. */
function readAll(
  plane: ControlPlane,
  list: 'operations' | 'projects',
  limits: number[],
  between: () => void,
): string[] {
  const ids: string[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let turn = 0; ; turn++) {
    between();
    const page = readPage(plane, list, limits[turn % limits.length] ?? 1, cursor);
    ids.push(...page.ids);
    if (page.ids.length === 0 || !page.cursor || cursors.has(page.cursor)) return ids;
    cursor = page.cursor;
    cursors.add(cursor);
  }
}

function emptyPlane(notShown: Partial<NotShown> = {}) {
  const clock = new ManualClock();
  return { clock, plane: createControlPlane({ clock, projects: 1, notShown }).plane };
}

const lastPageCursor = fc.constantFrom<NotShown['lastPageCursor'][]>('given', 'absent', 'null', 'empty');
const limits = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
/** Many of the same moment, so that ties are common. */
const agesMs = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 });
const arrivals = fc.array(
  fc.record({ count: fc.integer({ min: 0, max: 3 }), afterMs: fc.integer({ min: 0, max: 2 }) }),
);

describe('a list read in pages while new records arrive', () => {
  it('loses and doubles no operation that was there', () => {
    fc.assert(
      fc.property(agesMs, limits, arrivals, lastPageCursor, (ages, limits, arrivals, lastPageCursor) => {
        const { plane, clock } = emptyPlane({ lastPageCursor });
        for (const ageMs of ages) plane.startOperation({ ageMs });
        const there = readPage(plane, 'operations', 1000, undefined).ids;
        const coming = arrivals.values();
        const read = readAll(plane, 'operations', limits, () => {
          const { value } = coming.next();
          clock.advance(value?.afterMs ?? 0);
          for (let left = value?.count ?? 0; left > 0; left--) plane.startOperation();
        });
        expect(new Set(read).size).toBe(read.length);
        expect(read.filter((id) => there.includes(id))).toEqual(there);
      }),
      { numRuns: 200 },
    );
  });

  it('loses and doubles no project that was there', () => {
    fc.assert(
      fc.property(fc.nat(30), limits, arrivals, lastPageCursor, (projects, limits, arrivals, lastPageCursor) => {
        const notShown = { projectsPageSize: 3, lastPageCursor };
        const { plane } = createControlPlane({ clock: new ManualClock(), projects, notShown });
        const there = plane.projectIds;
        const coming = arrivals.values();
        const read = readAll(plane, 'projects', limits, () => {
          for (let left = coming.next().value?.count ?? 0; left > 0; left--) plane.addProject();
        });
        expect(new Set(read).size).toBe(read.length);
        expect(read.filter((id) => there.includes(id))).toEqual(there);
      }),
      { numRuns: 100 },
    );
  });

  it('is in descending order of distinct moments of creation', () => {
    fc.assert(
      fc.property(agesMs, (ages) => {
        const { plane } = emptyPlane();
        for (const ageMs of ages) plane.startOperation({ ageMs });
        const { operations } = JSON.parse(ask(plane, `/v2/projects/${plane.projectIds[0]}/operations`).body);
        const moments = operations.map(({ created_at }: { created_at: string }) => created_at);
        expect(moments).toEqual([...new Set(moments)].sort().reverse());
        expect(moments).toHaveLength(ages.length);
      }),
    );
  });
});

describe('the cursor of the last page', () => {
  it.each([
    ['given', expect.stringMatching(/^2024-01-01T00:00:00\.\d{6}Z$/)],
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
  ] as const)('is %s', (lastPageCursor, cursor) => {
    const { plane } = emptyPlane({ lastPageCursor });
    for (let left = 3; left > 0; left--) plane.startOperation();
    expect(readPage(plane, 'operations', 3, undefined).cursor).toEqual(cursor);
    expect(readPage(plane, 'operations', 2, undefined).cursor).toEqual(expect.stringContaining('2024'));
  });

  it('leads to the same page again when it is repeated', () => {
    const { plane } = emptyPlane({ lastPageCursor: 'repeated' });
    for (let left = 3; left > 0; left--) plane.startOperation();
    const first = readPage(plane, 'operations', 2, undefined);
    const last = readPage(plane, 'operations', 2, first.cursor ?? undefined);
    expect(readPage(plane, 'operations', 2, last.cursor ?? undefined)).toEqual(last);
    const only = readPage(plane, 'operations', 9, undefined);
    expect(readPage(plane, 'operations', 9, only.cursor ?? undefined)).toEqual(only);
  });

  it('is missing on a page without records', () => {
    expect(readPage(emptyPlane().plane, 'operations', 2, undefined)).toEqual({ ids: [], cursor: undefined });
  });
});

it('gives projects in pages when told to, also to a bare request', () => {
  const notShown = { projectsPageSize: 2 };
  const { plane } = createControlPlane({ projects: 3, notShown });
  const { projects, pagination } = JSON.parse(ask(plane, '/v2/projects').body);
  expect(projects).toHaveLength(2);
  expect(readPage(plane, 'projects', 100, pagination.cursor).ids).toEqual(plane.projectIds.slice(2));
});
