import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/time/duration.js';

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['5d', 432_000_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['0', 0],
  ['0s', 0],
  ['45', 45_000],
  ['007s', 7_000],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ['nothing', ''],
  ['no unit that is known', '10w'],
  ['a fraction', '1.5h'],
  ['an exponent', '1e3'],
  ['a sign', '-5s'],
  ['a plus', '+5s'],
  ['a blank', '1h 30m'],
  ['units from small to large', '30m1h'],
  ['a unit twice', '1m1m'],
  ['a unit alone', 's'],
  ['a capital', '10M'],
  ['words', 'ten minutes'],
  ['infinity', 'Infinity'],
  ['hexadecimals', '0x10'],
  ['digits of another script', '١٠s'],
  ['a number at the end without its unit', '1h30'],
  ['a line end', '10s\n'],
])('%s is no duration', (_, text) => {
  expect(parseDuration(text)).toBeUndefined();
});

describe('for any numbers', () => {
  const number = fc.nat(5_000);

  test('the parts add up', () => {
    fc.assert(
      fc.property(number, number, number, number, number, (d, h, m, s, ms) => {
        const sum = d * 86_400_000 + h * 3_600_000 + m * 60_000 + s * 1_000 + ms;
        expect(parseDuration(`${d}d${h}h${m}m${s}s${ms}ms`)).toBe(sum);
      }),
    );
  });

  test('text of digits and units is either refused or a whole number of milliseconds', () => {
    const text = fc.array(fc.constantFrom('1', '0', '23', 'd', 'h', 'm', 's', 'ms', ' ', '.', '-'), { maxLength: 8 });
    fc.assert(
      fc.property(text, (parts) => {
        const ms = parseDuration(parts.join(''));
        expect(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });

  test('what a person reads is near the truth, and a larger unit is used in time', () => {
    fc.assert(
      fc.property(fc.nat(100 * 86_400_000), (ms) => {
        const said = formatDuration(ms);
        const back = parseDuration(said.replace(' ', ''));
        expect(back, said).toBeDefined();
        expect(Math.abs((back ?? 0) - ms)).toBeLessThan(Math.max(1_000, ms / 20));
        expect(said).toMatch(/^(\d{1,3}ms|1000ms|\d{1,2}s|\d{1,2}m( \d\ds)?|\d{1,2}h( \d\dm)?|\d+d( \d\dh)?)$/);
        expect(said).not.toMatch(/60s|60m|\b24h|1000ms/);
      }),
    );
  });
});
