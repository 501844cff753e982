import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/time/clock.js';

test('the time of a step does not follow a change of the clock of the machine', (context) => {
  const before = systemClock.now();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
  context.onTestFinished(() => clock.mockRestore());
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(systemClock.epochMs()).toBe(0);
});
