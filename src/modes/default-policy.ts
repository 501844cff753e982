import { Cooldown, checkRetryAfter, exponentialBackoff, type RequestPolicy } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import type { Collaborators } from './mode.js';

/** Retries requests as the contract promises. A `Retry-After` for one request delays all requests with this policy. */
export function defaultPolicy({ deadline, random, log }: Omit<Collaborators, 'api'>): RequestPolicy {
  const backoff = exponentialBackoff(random);
  return {
    deadline,
    retry(error, errorCount) {
      const pause = backoff(error, errorCount);
      if (pause !== undefined) checkRetryAfter(error, deadline);
      return pause;
    },
    cooldown: new Cooldown(),
    onRetry: (error, pause) => log.info(sentences(error.message, `Retrying in ${formatDuration(pause)}.`)),
  };
}
