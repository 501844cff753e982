import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/log.js';
import type { Limit } from '../time/limit.js';

export interface Collaborators {
  readonly api: ControlApi;
  /** Unbounded with `timeout: 0`: each request is then sent once, without retries. */
  readonly limit: Limit;
  readonly log: Log;
  readonly random: () => number;
}
