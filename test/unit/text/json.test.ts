import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isText, type JsonObject, NestingTooDeep, parseJson, printJson, toText } from '../../../src/text/json.js';

test('fractions, exponents and -0 are printed as JSON.stringify prints them', () => {
  const text = '[1.2345678901234567890,12345678901234567890.5,1e400,0.1,12345678901234567e3,-0]';
  expect(printJson(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
});

test('an integer below 2^53 is parsed as a number, and a larger one keeps its digits', () => {
  expect(parseJson('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  const record = parseJson('{"id":9007199254740993}') as JsonObject;
  expect(toText(record['id'] ?? null)).toBe('9007199254740993');
  expect(isText(record['id'])).toBe(false);
});

test('a string that looks like the internal mark of a large integer stays a string', () => {
  const value = { a: 'integer-00000000-0000-4000-8000-000000000000:9007199254740993', b: 1 };
  expect(parseJson(printJson(value))).toEqual(value);
});

test('JSON that is parsed and printed again stays the same, with all digits of its integers', () => {
  const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String);
  const quoted = digits.map((text) => `"${text}\\`);
  const string = fc.oneof(fc.string({ unit: 'binary' }), digits, quoted);
  // JavaScript sorts names that are integers. A sign marks the texts that are printed as integers.
  const key = string.filter((text) => text !== '__proto__' && !/^#?-?\d+$/.test(text));
  const marked = digits.map((text) => `#${text}`);
  const values = [fc.constant(null), fc.boolean(), fc.integer(), string, marked];
  const json = fc.anything({ maxDepth: 4, key, values }).map((value) => JSON.stringify(value));
  const text = json.map((printed) => printed.replace(/"#(-?\d+)"/g, '$1'));
  const property = fc.property(text, (printed) => printJson(parseJson(printed)) === printed);
  fc.assert(property, { examples: [['{"9007199254740993":1}'], ['["\\"9007199254740993","a\\\\",9007199254740993]']] });
});

test('parseJson accepts and rejects the same texts as JSON.parse', () => {
  const parts = ['12345678901234567', '-', '"', '\\', '{', '}', '[', ']', ':', ',', '.', 'e', '0', ' ', 'a', '"a":'];
  const isAccepted = (parse: (text: string) => unknown, text: string) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((all) => all.join(''));
  const property = fc.property(text, (written) => isAccepted(parseJson, written) === isAccepted(JSON.parse, written));
  fc.assert(property, { numRuns: 20_000, examples: [['{12345678901234567:0}']] });
});

test('JSON may have 500 levels and five million arrays and objects, and any number of brackets in a string', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}"\\"["${'}]'.repeat(levels / 2)}`;
  expect(printJson(parseJson(nested(500)))).toBe(nested(500));
  expect(() => parseJson(`[${nested(500)}]`)).toThrow(NestingTooDeep);
  expect(() => parseJson(`["\\\\",${nested(500)}]`)).toThrow(NestingTooDeep);
  expect(parseJson(`"${'['.repeat(5_000_001)}"`)).toHaveLength(5_000_001);
  expect(() => parseJson(`[${'[],'.repeat(5_000_000)}1]`)).toThrow(NestingTooDeep);
});

test('parseJson reads JSON that has a large integer and a string with millions of escapes', () => {
  const text = `["${'\\n'.repeat(4_000_000)}",9007199254740993]`;
  expect(printJson(parseJson(text)) === text).toBe(true);
});
