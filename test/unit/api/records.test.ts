import { expect, onTestFinished, test, vi } from 'vitest';
import { fieldTime } from '../../../src/api/records.js';

test.each([
  ['2024-01-01T12:00:00', 12],
  ['2024-01-01T12:00:00.000', 12],
  ['2024-01-01T12:00:00Z', 12],
  ['2024-01-01T13:00:00+01:00', 12],
  ['2024', undefined],
  ['2024-01-01', undefined],
  ['noon', undefined],
])('the timestamp “%s” is UTC if it has no time zone, whatever that of the runner is', (created_at, hour) => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const expected = hour === undefined ? undefined : Date.UTC(2024, 0, 1, hour);
  expect(fieldTime({ id: '1', record: { created_at } }, 'created_at')).toBe(expected);
});
