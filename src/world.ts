import type { Secrets } from './action/secrets.js';
import type { Toolkit } from './action/toolkit.js';
import type { Exchange } from './http/exchange.js';
import type { Clock } from './time/clock.js';
import type { Stop } from './time/stop.js';

/** Everything outside the process that a step uses. */
export interface World {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether a crash was already reported. A later success must not replace its report. */
  readonly isTold: () => boolean;
  /** Cancelled when the runner cancels the step. */
  readonly cancel: Stop;
}
