import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/http/retry-after.js';

const now = Date.parse('2024-01-01T12:00:00Z');
const inNineSeconds = 'Mon, 01 Jan 2024 12:00:09 GMT';

test.for([
  ['seconds', '7', undefined, 7_000],
  ['no seconds', '0', undefined, 0],
  ['parts of a second', '1.5', undefined, 1_500],
  ['spaces around', ' 7 ', undefined, 7_000],
  ['a date', inNineSeconds, undefined, 9_000],
  ['a date that is past', 'Mon, 01 Jan 2024 11:00:00 GMT', undefined, 0],
  ['a date in the oldest form, which is not local time', 'Mon Jan  1 12:00:09 2024', undefined, 9_000],
  ['a date in the oldest form, on the 16th', 'Tue Jan 16 12:00:09 2024', undefined, 15 * 86_400_000 + 9_000],
  ['a date, counted from the Date of the response,', inNineSeconds, 'Mon, 01 Jan 2024 12:00:01 GMT', 8_000],
  ['a date, counted from the clock because Date is nonsense,', inNineSeconds, 'today', 9_000],
  ['nothing', '', undefined, undefined],
  ['no header', undefined, undefined, undefined],
  ['a word', 'soon', undefined, undefined],
] as const)('Retry-After of %s is read', ([, value, date, ms]) => {
  expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(ms);
});

test('no Retry-After and no Date ask for a negative time or for more than a year', () => {
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
