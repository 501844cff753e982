import { expect, onTestFinished, test, vi } from 'vitest';
import { fieldTime } from '../../../src/api/records.js';

const noon = [
  ...['2024-01-01T12:00:00', '2024-01-01T12:00:00.000', '2024-01-01T12:00:00Z', '2024-01-01T13:00:00+01:00'],
  ...['2024-01-01 12:00:00Z', '2024-01-01 12:00:00.000000', '2024-01-01 13:00:00+01:00'],
];
const noTimes = ['2024-01-01  12:00:00Z', '0001-01-01T00:00:00Z', '2024', '2024-01-01', 'noon'];
test.each([
  ...noon.map((text) => [text, 'is read as 12:00 UTC', Date.UTC(2024, 0, 1, 12)] as const),
  ...noTimes.map((text) => [text, 'is rejected', undefined] as const),
])('on a runner in New York, the timestamp “%s” %s', (created_at, _, expected) => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(fieldTime({ id: '1', record: { created_at } }, 'created_at')).toBe(expected);
});
