import { Cooldown, exponentialBackoff, type RequestPolicy } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import type { Collaborators } from './mode.js';

/** Retries requests as the contract promises. A `Retry-After` for one request delays all requests with this policy. */
export function defaultPolicy({ deadline, random, log }: Omit<Collaborators, 'api'>): RequestPolicy {
  return {
    deadline,
    retry: exponentialBackoff(random, deadline),
    cooldown: new Cooldown(deadline.clock),
    onRetry: (error, pause) => log.info(sentences(error.message, `Retrying in ${formatDuration(pause)}.`)),
  };
}
