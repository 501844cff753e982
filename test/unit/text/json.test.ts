import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isText, type Json, parseJson, printJson, toText } from '../../../src/text/json.js';

test.each([
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678901234567890',
  '{"id":9007199254740993,"ids":[9007199254740993,1],"text":"9007199254740993"}',
  '{"9007199254740993":1}',
  '"\\"9007199254740993"',
  '"a\\\\",9007199254740993'.replace(/^/, '[').concat(']'),
])('%s keeps its digits', (text) => {
  expect(printJson(parseJson(text))).toBe(text);
});

test('numbers that are no integers are what they were', () => {
  const text = '[1.2345678901234567890,12345678901234567890.5,1e400,0.1,12345678901234567e3,-0]';
  expect(printJson(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
});

test('a large integer reads as its digits, and is no text', () => {
  const record = parseJson('{"id":9007199254740993}');
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw new Error('no object');
  expect(toText(record['id'] ?? null)).toBe('9007199254740993');
  expect(isText(record['id'])).toBe(false);
});

test.each(['{', '[1,]', '{"id":9007199254740993', '"9007199254740993', 'nul', '', "{'a':1}"])(
  '%s is no JSON',
  (text) => {
    expect(() => parseJson(text)).toThrow();
  },
);

test('any JSON comes out as it went in, integers of any size with all digits', () => {
  // Printed by hand: the printer at hand cannot print such integers.
  const print = (value: unknown): string => {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return `[${value.map(print).join(',')}]`;
    if (typeof value === 'object' && value !== null) {
      return `{${Object.entries(value)
        .map(([name, item]) => `${JSON.stringify(name)}:${print(item)}`)
        .join(',')}}`;
    }
    return JSON.stringify(value);
  };
  const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    digits.map(String),
    digits.map((big) => `"${big}\\`),
  );
  const name = fc.string().filter((key) => key !== '__proto__' && !/^\d+$/.test(key));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false),
      fc.integer(),
      text,
      digits,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (item) => {
      const written = print(item);
      expect(printJson(parseJson(written))).toBe(written);
    }),
  );
});

test('a text that looks like the inner mark of an integer stays a text', () => {
  const value: Json = { a: 'integer-00000000-0000-4000-8000-000000000000:9007199254740993', b: 1 };
  expect(parseJson(printJson(value))).toEqual(value);
});

test('a long text without an end, as of a cut body, takes linear time', () => {
  const began = performance.now();
  expect(() => parseJson(`["${'\\"1234567890123456'.repeat(200_000)}`)).toThrow();
  parseJson(`["${'\\"1234567890123456'.repeat(200_000)}"]`);
  expect(performance.now() - began).toBeLessThan(3_000);
});

test('it takes what JSON.parse takes, and nothing else', () => {
  const parts = ['12345678901234567', '-', '"', '\\', '{', '}', '[', ']', ':', ',', '.', 'e', '0', ' ', 'a', '"a":'];
  const takes = (parse: (text: string) => unknown, text: string) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, (written) => {
      expect(takes(parseJson, written)).toBe(takes(JSON.parse, written));
    }),
    { numRuns: 20_000 },
  );
});
