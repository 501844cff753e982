import type { Exchange } from '../../src/http/exchange.js';
import { Rate } from '../../src/http/rate.js';
import type { WaitSettings } from '../../src/modes/wait-operation/settings.js';
import { waitOperation } from '../../src/modes/wait-operation/wait-operation.js';
import { Cancellation, Deadline } from '../../src/time/deadline.js';
import { apiBy, silent } from './api.js';
import type { VirtualClock } from './clock.js';

interface Surroundings {
  readonly exchange: Exchange;
  readonly clock: VirtualClock;
  readonly timeout: number;
  readonly random: () => number;
}

/** A wait without the step around it. */
export function runWait(
  what: Pick<WaitSettings, 'projectIds' | 'target'>,
  { exchange, clock, timeout, random }: Surroundings,
) {
  const rate = new Rate(clock, random);
  const deadline = new Deadline(clock, clock.now() + timeout, new Cancellation());
  return waitOperation(
    { ...what, failOnEmpty: false, pollInterval: 'auto', failFast: true, pollsOnce: false },
    { api: apiBy(exchange, rate), rate, deadline, log: silent, random },
  );
}
