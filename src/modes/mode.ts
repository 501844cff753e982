import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/log.js';
import { Cooldown, exponentialBackoff, type RequestPolicy } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import type { Deadline } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';

export interface Collaborators {
  readonly api: ControlApi;
  /** Unbounded with `timeout: 0`: each request is then sent once, without retries. */
  readonly deadline: Deadline;
  readonly log: Log;
  readonly random: () => number;
}

/** The step cannot do what its inputs ask for. The message is complete and gets no further advice. */
export class UserError extends Error {}

/**
 * Each request gets 5 attempts; 423 and 429 are retried until the deadline (promises of the contract). Parallel
 * requests share one cooldown.
 */
export function defaultPolicy({ deadline, random, log }: Omit<Collaborators, 'api'>): RequestPolicy {
  return {
    deadline,
    retry: exponentialBackoff(random),
    cooldown: new Cooldown(),
    onRetry: (error, pause) => log.info(sentences(error.message, `The next try follows in ${formatDuration(pause)}.`)),
  };
}
