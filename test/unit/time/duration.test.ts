import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/time/duration.js';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  ['500ms', 500],
  ['1h30m', 90 * minute],
  ['5000d4000h3000m2000s1000ms', 5_000 * day + 4_000 * hour + 3_000 * minute + 2_001 * second],
  ['45', 45 * second],
])('the duration %s is read as %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '10w', '1.5h', '1e3', '-5s', '+5s', '1h 30m', '30m1h', '1m1m', 's', '10M', '1h30', '10s\n'])(
  'the duration %j is rejected',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test.each([
  [999.6, '1s'],
  [1_649, '1.6s'],
  [9_950, '10s'],
  [59_500, '1m'],
  [65 * second, '1m 5s'],
  [hour - 500, '1h'],
  [day - 500, '1d'],
  [3 * day + 14 * hour + 59 * minute, '3d 14h'],
])('a duration of %d milliseconds is shown as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
