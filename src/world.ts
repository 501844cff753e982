import type { Secrets } from './action/secrets.js';
import type { Toolkit } from './action/toolkit.js';
import type { Exchange } from './http/exchange.js';
import type { Clock } from './time/clock.js';
import type { Stop } from './time/stop.js';

/** All that a step reaches of the world outside. */
export interface World {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether an end was told already, that of a crash: a later one must not make it look better. */
  readonly isTold: () => boolean;
  /** Tells that the runner cancels the step. */
  readonly cancel: Stop;
}
