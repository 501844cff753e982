import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/log.js';
import type { Limit } from '../time/limit.js';

/** What every mode works with. */
export interface Collaborators {
  readonly api: ControlApi;
  /** Until when; without an end: look once, and repeat nothing. */
  readonly limit: Limit;
  readonly log: Log;
  readonly random: () => number;
}
