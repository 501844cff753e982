import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/http/retry.js';

const now = Date.parse('2024-01-01T12:00:00Z');
const inNineSeconds = 'Mon, 01 Jan 2024 12:00:09 GMT';

test.for([
  ['in seconds is read', '7', undefined, 7_000],
  ['of 0 seconds means no wait', '0', undefined, 0],
  ['with a fraction of a second is read', '1.5', undefined, 1_500],
  ['with spaces around it is read', ' 7 ', undefined, 7_000],
  ['with a date is read', inNineSeconds, undefined, 9_000],
  ['with a past date means no wait', 'Mon, 01 Jan 2024 11:00:00 GMT', undefined, 0],
  ['with an asctime date is read as UTC', 'Mon Jan  1 12:00:09 2024', undefined, 9_000],
  ['with an asctime date on the 16th is read', 'Tue Jan 16 12:00:09 2024', undefined, 15 * 86_400_000 + 9_000],
  ['with a date counts from the Date of the response', inNineSeconds, 'Mon, 01 Jan 2024 12:00:01 GMT', 8_000],
  ['with a date counts from the clock if Date is invalid', inNineSeconds, 'today', 9_000],
  ['without a value is ignored', '', undefined, undefined],
  ['is ignored if the header is missing', undefined, undefined, undefined],
  ['with a word is ignored', 'soon', undefined, undefined],
] as const)('Retry-After %s', ([, value, date, ms]) => {
  expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(ms);
});

test('any Retry-After with any Date results in a wait from 0 to 366 days', () => {
  const dates = ['Fri, 31 Dec 9999 23:59:59 GMT', '275760-09-13T00:00:00Z', 'never GMT', inNineSeconds];
  const numbers = ['-1', '1e300', '1'.repeat(300), '0.0000001', 'Infinity', 'NaN', '0x10', '١', '5, 7'];
  const value = fc.oneof(fc.constantFrom(...dates, ...numbers), fc.string({ unit: 'binary' }));
  const clock = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(value, value, clock, (retryAfter, date, nowMs) => {
      const ms = parseRetryAfter({ 'retry-after': retryAfter, date }, nowMs) ?? 0;
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(366 * 86_400_000);
    }),
    { numRuns: 500 },
  );
});
