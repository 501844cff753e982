import type { ApiKey, Operation } from '../../control-plane/index.js';
import { ownRun } from './plan.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from './record.js';
import { creationOf, startOf } from './truth.js';

/**
 * All that the contract excuses, although the truth is another. Nothing else is: a list that shows something late is no excuse.
 * Each begins with the section of the contract, and has its sentence in short.
 */
export const excuses = {
  /** Section 4: `timeout: 0` believes the first read, and gives up what is not answered for a minute. */
  pollsOnce: ({ plan }: StepRecord) => plan.timeoutMs === 0,

  /** Section 4: The first read takes the newest 1,000 operations. A warning says that older unfinished ones are not seen. */
  isBehindFirstRead: (operation: Operation, firstRead: ReadonlySet<string>, { main }: StepRecord) =>
    firstRead.size >= 1_000 && startOf(operation) < main.startedAt - 60_000,

  /** Section 1: If the limit was reached, log and summary say that the list may go on. What follows need not be whole. */
  goesOnBeyondLimit: ({ plan: { expects }, main }: StepRecord) =>
    'limit' in expects && expects.limit > 0 && Number(main.output('count')) >= expects.limit,

  /** Section 5: The service itself says that an old key is gone, in the ways that the contract names. */
  isCalledGone: ({ sent, deletesOf }: ProcessRecord, key: ApiKey, parent: string | undefined) => {
    const isLate = ({ endedAt = 0 }: SentRequest) => endedAt - creationOf(key) >= 10_000;
    const rejections = sent.filter(
      (one) => one.authorization === `Bearer ${key.key}` && one.status === 401 && !one.isPage && isLate(one),
    );
    const isGone = (one: SentRequest) =>
      one.authorization === parent && one.status === 404 && !one.isPage && isLate(one);
    const isConfirmed = deletesOf(key.id).some((one) => (one.status >= 200 && one.status < 300) || isGone(one));
    const [first, last] = [rejections[0]?.at ?? 0, rejections.at(-1)?.endedAt ?? 0];
    return rejections.length > 0 && (isConfirmed || (parent === undefined && last - first >= 10_000));
  },

  /** Section 5: GitHub says that it does not know a run which goes on. Keys older than a day are revoked, younger ones left. */
  isRunDenied: ({ plan: { runs } }: Run, runId = '') =>
    runs.get(runId)?.first === 'gone' || runs.get(ownRun)?.hiddenAfter !== undefined,

  /** Section 3: The runner kills a post that is cancelled too late; a sweep finds what it left. */
  wasKilled: ({ exit }: ProcessRecord) => exit === 'killed' || exit === 'hung',
};
