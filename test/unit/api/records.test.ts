import { expect, onTestFinished, test, vi } from 'vitest';
import { displayTime, fieldTime } from '../../../src/api/records.js';

test.each([
  ['2024-01-01T12:00:00', 'is 12:00 UTC', 12],
  ['2024-01-01T12:00:00.000', 'is 12:00 UTC', 12],
  ['2024-01-01T12:00:00Z', 'is 12:00 UTC', 12],
  ['2024-01-01T13:00:00+01:00', 'is 12:00 UTC', 12],
  ['2024-01-01 12:00:00Z', 'is 12:00 UTC', 12],
  ['2024-01-01 12:00:00.000000', 'is 12:00 UTC', 12],
  ['2024-01-01 13:00:00+01:00', 'is 12:00 UTC', 12],
  ['2024-01-01 13:00:00+01', 'is 12:00 UTC', 12],
  ['2024-01-01  12:00:00Z', 'is not a timestamp', undefined],
  ['0001-01-01T00:00:00Z', 'is not a timestamp', undefined],
  ['2024', 'is not a timestamp', undefined],
  ['2024-01-01', 'is not a timestamp', undefined],
  ['noon', 'is not a timestamp', undefined],
])('on a runner in New York, “%s” %s', (created_at, _, hour) => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const expected = hour === undefined ? undefined : Date.UTC(2024, 0, 1, hour);
  expect(fieldTime({ id: '1', record: { created_at } }, 'created_at')).toBe(expected);
});

test.each(['2026-01-31T09:30:00.123Z', '2026-01-31 09:30:00.123Z', '2026-01-31T09:30:00Z'])(
  'the timestamp %s is shown to the second, with its zone',
  (created_at) => {
    expect(displayTime({ id: '1', record: { created_at } }, 'created_at')).toBe('2026-01-31 09:30:00Z');
  },
);
