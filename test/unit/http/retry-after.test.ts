import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/http/retry-after.js';

const now = Date.parse('2024-01-01T12:00:00Z');
const days = 86_400_000;
const inNineSeconds = 'Mon, 01 Jan 2024 12:00:09 GMT';

test.for([
  ['in seconds is read', '7', undefined, 7_000],
  ['of 0 seconds means no wait', '0', undefined, 0],
  ['with a fraction of a second is read', '1.5', undefined, 1_500],
  ['with spaces around it is read', ' 7 ', undefined, 7_000],
  ['with a date is read', inNineSeconds, undefined, 9_000],
  ['with a past date means no wait', 'Mon, 01 Jan 2024 11:00:00 GMT', undefined, 0],
  ['with an asctime date is read as UTC', 'Mon Jan  1 12:00:09 2024', undefined, 9_000],
  ['with an asctime date on the 16th is read', 'Tue Jan 16 12:00:09 2024', undefined, 15 * days + 9_000],
  ['with a date counts from the Date of the response', inNineSeconds, 'Mon, 01 Jan 2024 12:00:01 GMT', 8_000],
  ['with a date counts from the clock if Date is invalid', inNineSeconds, 'today', 9_000],
  ['with a date of the year 9999 is cut to 366 days', 'Fri, 31 Dec 9999 23:59:59 GMT', undefined, 366 * days],
  ['with a date after a Date of the year 1 is cut to 366 days', inNineSeconds, '0001-01-01T00:00:00Z', 366 * days],
  ['of 300 digits is cut to 366 days', '1'.repeat(300), undefined, 366 * days],
  ...['never GMT', '-1', '1e300', '', undefined, 'soon'].map((value) => [`${value} is ignored`, value] as const),
] as const)('Retry-After %s', ([, value, date, ms]) => {
  expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(ms);
});
