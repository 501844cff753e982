import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/http/exchange.js';

const now = Date.parse('2024-01-01T12:00:00Z');
const inNineSeconds = 'Mon, 01 Jan 2024 12:00:09 GMT';

test.for([
  ['in seconds is read', '7', undefined, 7_000],
  ['of 0 seconds means no wait', '0', undefined, 0],
  ['with a fraction of a second is read', '1.5', undefined, 1_500],
  ['with a date is read', inNineSeconds, undefined, 9_000],
  ['with a date in the past means no wait', 'Mon, 01 Jan 2024 11:00:00 GMT', undefined, 0],
  ['with a date counts from the Date header of its response', inNineSeconds, 'Mon, 01 Jan 2024 12:00:01 GMT', 8_000],
  ['with a date counts from the local clock if the Date header is invalid', inNineSeconds, 'today', 9_000],
  ['is ignored if it is empty', '', undefined, undefined],
  ['is ignored if it is missing', undefined, undefined, undefined],
  ...['never GMT', '-1', '1e300', 'soon'].map((value) => [`of “${value}” is ignored`, value] as const),
] as const)('a Retry-After header %s', ([, value, date, ms]) => {
  expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(ms);
});
