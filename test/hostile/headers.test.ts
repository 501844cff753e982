import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/http/retry-after.js';
import { harm } from './harm.js';
import { projectId, step } from './in-process.js';
import { text } from './texts.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const year = 366 * 86_400_000;

const moments = [
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  '9999-12-31T23:59:59Z',
  '275760-09-13T00:00:00Z',
  'Mon, 01 Jan 2024 00:00:30 GMT',
  'never GMT',
];
const numbers = ['0', '-1', '1e300', '1'.repeat(300), '0.0000001', 'Infinity', 'NaN', '0x10', '١', '5, 7', '60'];
const value = fc.oneof(fc.constantFrom(...moments, ...numbers), text);
const names = [
  'retry-after',
  'date',
  'x-request-id',
  'request-id',
  'location',
  'content-type',
  'content-length',
  '__proto__',
];
const headers = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 });

test('no Retry-After and no Date ask for anything but a time that could be waited', () => {
  const date = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(value, value, date, (asked, answered, now) => {
      const ms = parseRetryAfter({ 'retry-after': asked, date: answered }, now);
      if (ms === undefined) return;
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(year);
    }),
    { numRuns: 1_000 },
  );
});

test('whatever status and headers say, the step ends in its time, and red', async () => {
  const status = fc.oneof(
    fc.integer({ min: 100, max: 999 }).filter((code) => code < 200 || code > 299),
    fc.constantFrom(206, 302, 304, 408, 423, 429, 503),
  );
  const mode = fc.constantFrom('wait-operation', 'list-operations', 'create-key', 'revoke-key');
  const said = fc.constantFrom(
    '',
    '{"message":"no"}',
    '<html><title>::error::x</title>',
    '{"operation":{"status":"finished"}}',
  );
  await fc.assert(
    fc.asyncProperty(mode, status, headers, said, async (word, code, given, body) => {
      const inputs = { mode: word, 'project-id': projectId, 'operation-id': id, 'key-id': '7' };
      const told = await step(inputs, () => ({ status: code, headers: given, body }));
      expect(harm(told, false)).toEqual([]);
      expect(told.succeeded).toBe(false);
      expect(Number(told.outputs['duration-ms'])).toBeLessThanOrEqual(22_000);
    }),
    { numRuns: 80 },
  );
});

test('a body that is JSON is taken as that, whatever its type says but HTML', async () => {
  const type = fc.oneof(
    text.filter((written) => !/\bhtml\b/i.test(written)),
    fc.constantFrom('image/png', '', ';;;'),
  );
  await fc.assert(
    fc.asyncProperty(type, async (written) => {
      const told = await step({ mode: 'list-keys' }, () => ({
        headers: { 'content-type': written },
        body: '[{"id":7}]',
      }));
      expect(harm(told, true)).toEqual([]);
      expect(told.outputs).toMatchObject({ status: 'ok', 'key-ids': '["7"]' });
    }),
    { numRuns: 30 },
  );
});
