import { Quiet } from '../http/quiet.js';
import { fiveTries, type Manner } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import type { Collaborators } from './collaborators.js';

/** How a mode asks, side by side or not: 5 tries a request, with a line in the log for each that is to follow. */
export function patiently({ limit, random, log }: Omit<Collaborators, 'api'>): Manner {
  return {
    limit,
    retry: fiveTries(random),
    quiet: new Quiet(),
    tell: (error, pause) => log.info(sentences(error.message, `The next try follows in ${formatDuration(pause)}.`)),
  };
}
