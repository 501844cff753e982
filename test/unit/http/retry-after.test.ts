import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../../src/http/retry-after.js';

const now = Date.parse('2024-01-01T12:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['seconds', '7', 7_000],
    ['no seconds', '0', 0],
    ['many seconds', '86400', 86_400_000],
    ['parts of a second', '1.5', 1_500],
    ['spaces around', ' 7 ', 7_000],
    ['a date', 'Mon, 01 Jan 2024 12:00:09 GMT', 9_000],
    ['a date that is past', 'Mon, 01 Jan 2024 11:00:00 GMT', 0],
    ['a date in the oldest form, which is not local time', 'Mon Jan  1 12:00:09 2024', 9_000],
    ['a date in the oldest form, with a day of two digits', 'Tue Jan 16 12:00:09 2024', 15 * 86_400_000 + 9_000],
    ['nothing', '', undefined],
    ['no header', undefined, undefined],
    ['a word', 'soon', undefined],
  ])('of %s', (_, value, expected) => {
    expect(parseRetryAfter({ 'retry-after': value }, now)).toBe(expected);
  });

  it("counts a date from the answer's own Date, whatever the clock here says", () => {
    const headers = { 'retry-after': 'Mon, 01 Jan 2024 03:00:30 GMT', date: 'Mon, 01 Jan 2024 03:00:00 GMT' };
    expect(parseRetryAfter(headers, now)).toBe(30_000);
    expect(parseRetryAfter(headers, 0)).toBe(30_000);
  });

  it('counts it from the clock where Date is missing or nonsense', () => {
    const headers = { 'retry-after': 'Mon, 01 Jan 2024 12:00:30 GMT' };
    expect(parseRetryAfter({ ...headers, date: 'today' }, now)).toBe(30_000);
    expect(parseRetryAfter(headers, now)).toBe(30_000);
  });
});
