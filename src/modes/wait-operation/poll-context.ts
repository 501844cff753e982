import type { ControlApi } from '../../api/control-api.js';
import type { Clock } from '../../time/clock.js';
import type { PollFailures } from './poll-failures.js';
import type { ProgressLog } from './progress-log.js';

/** All projects of one wait share these values and callbacks. */
export interface PollContext {
  readonly api: ControlApi;
  readonly clock: Clock;
  /** True with `timeout: 0`. */
  readonly pollsOnce: boolean;
  /** The start of the wait on the step's clock. */
  readonly began: number;
  /** Maximum number of operations in the first read of each list, unless `since` asks for more. */
  readonly maxFirstRead: number;
  readonly progress: ProgressLog;
  readonly failures: PollFailures;
  /** Runs after each response and each failure. */
  readonly onChange: () => void;
  /** Ends the wait for all projects. */
  readonly onFatalError: (error: Error) => void;
}
