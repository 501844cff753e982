import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printArray, printResult, recordsForOutput } from '../../../src/modes/list/report.js';
import { isObject, type JsonObject, parseJson, printJson } from '../../../src/text/json.js';

interface One {
  readonly record: JsonObject;
}

function numbered(count: number, more: JsonObject = {}): One[] {
  return Array.from({ length: count }, (_, index) => ({ record: { id: `p-${index}`, ...more } }));
}

function whole(records: readonly One[]): string {
  return JSON.stringify(records.map(({ record }) => record));
}

/** Around the sizes of one piece, and of some. */
const sizes = [0, 1, 2, 998, 999, 1_000, 1_001, 1_002, 1_999, 2_000, 2_001, 3_000, 3_001];

test.each(sizes)('%i records in pieces are the JSON of the whole', (count) => {
  const records = numbered(count);
  expect([...printArray(records)].join('')).toBe(whole(records));
  expect(recordsForOutput(records)).toBe(whole(records).length < 100 * 1024 ? whole(records) : undefined);
});

test('whatever the records, their pieces are the JSON of the whole', () => {
  const record = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()).map((value) => ({
    record: JSON.parse(JSON.stringify(value)) as JsonObject,
  }));
  const lists = fc.record({
    some: fc.array(record, { minLength: 1, maxLength: 5 }),
    count: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 995, max: 1_005 })),
  });
  fc.assert(
    fc.property(lists, ({ some, count }) => {
      const records = Array.from({ length: count }, (_, index) => some[index % some.length] ?? { record: {} });
      expect([...printArray(records)].join('')).toBe(whole(records));
      const head = { mode: 'list-projects', project_ids: records.map((_, index) => index) };
      const printed = [...printResult(head, 'projects', records)].join('');
      expect(printed).toBe(JSON.stringify({ ...head, projects: records.map((one) => one.record) }));
    }),
    { numRuns: 100 },
  );
});

test('no piece ends within a record', () => {
  for (const piece of printArray(numbered(2_500, { name: ']},{[' }))) {
    const bare = piece.replace(/^,/, '');
    if (bare !== '[' && bare !== ']') expect(JSON.parse(`[${bare}]`)).toBeInstanceOf(Array);
  }
});

test('integers beyond 2^53 keep their digits on either side of the end of a piece', () => {
  const text = `[${Array.from({ length: 1_002 }, (_, index) => `{"id":${9007199254740993n + BigInt(index)}}`)}]`;
  const parsed = parseJson(text);
  const records = Array.isArray(parsed) ? parsed.filter(isObject).map((record) => ({ record })) : [];
  expect(records).toHaveLength(1_002);
  expect([...printArray(records)].join('')).toBe(text);
  expect(recordsForOutput(records)).toBe(text);
  const ids = records.map(({ record }) => record['id']);
  const digits = Array.from({ length: 1_002 }, (_, index) => 9007199254740993n + BigInt(index));
  expect([...printResult({ ids }, 'keys', records)].join('')).toBe(`{"ids":[${digits}],"keys":${text}}`);
  expect(printJson(ids)).toBe(`[${digits}]`);
});

test.each([0, 1, 999, 1_000, 1_001, 1_500])(
  'beside %i records, those of 100 KiB are none for an output, those of a unit less are',
  (count) => {
    const most = 100 * 1024;
    const of = (units: number): One[] => {
      const records = [{ record: { name: '' } }, ...numbered(count)];
      return [{ record: { name: 'x'.repeat(units - whole(records).length) } }, ...numbered(count)];
    };
    for (const units of [most - 2, most - 1]) {
      expect(whole(of(units))).toHaveLength(units);
      expect(recordsForOutput(of(units))).toBe(whole(of(units)));
    }
    for (const units of [most, most + 1]) expect(recordsForOutput(of(units))).toBeUndefined();
  },
);
