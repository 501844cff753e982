import { Quiet } from '../http/quiet.js';
import { fiveTries, type Manner } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import type { Collaborators } from './collaborators.js';

/**
 * Each request gets 5 attempts; 423 and 429 are retried until the deadline (promises of the contract). Parallel
 * requests share one cooldown.
 */
export function patiently({ limit, random, log }: Omit<Collaborators, 'api'>): Manner {
  return {
    limit,
    retry: fiveTries(random),
    quiet: new Quiet(),
    tell: (error, pause) => log.info(sentences(error.message, `The next try follows in ${formatDuration(pause)}.`)),
  };
}
