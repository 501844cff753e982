import { ControlApi } from '../../src/api/control-api.js';
import type { Exchange } from '../../src/http/exchange.js';
import { Rate } from '../../src/http/rate.js';
import type { WaitSettings } from '../../src/modes/wait-operation/settings.js';
import { waitOperation } from '../../src/modes/wait-operation/wait-operation.js';
import { Cancellation, Deadline } from '../../src/time/deadline.js';
import type { VirtualClock } from './clock.js';
import { silent } from './silent.js';

const connection = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key', log: silent };

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
  const api = new ControlApi({ ...connection, exchange, rate });
  const deadline = new Deadline(clock, clock.now() + timeout, new Cancellation());
  return waitOperation(
    { ...what, failOnEmpty: false, pollInterval: 'auto', failFast: true, pollsOnce: false },
    { api, rate, deadline, log: silent, random },
  );
}
