import type { ApiKey, Operation } from '../../control-plane/index.js';
import type { ProcessRecord, StepRecord } from './record.js';
import { creationOf, isAbsence, startOf } from './truth.js';

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

  /** Section 5: A 404 counts after a DELETE that got a 5xx or no response. In post, a young key must stay absent for 10 s. */
  isThoughtGone: (process: ProcessRecord, key: ApiKey) => {
    const deletes = process.deletesOf(key.id);
    const lost = deletes.findIndex(({ response, status, isPage, mayHaveTakenEffect }) =>
      response === undefined ? mayHaveTakenEffect : status >= 500 || isPage,
    );
    const absent = deletes.slice(lost + 1).filter(({ status, isPage }) => status === 404 && !isPage);
    return lost >= 0 && absent.length > 0 && isSettled(process, key);
  },

  /** Section 5: The minted key itself gets 401, and post has no parent key to look into the list. Of a young key, for 10 s. */
  rejectsItself: (post: ProcessRecord, key: ApiKey) =>
    post.sent.some(({ authorization, status }) => authorization === `Bearer ${key.key}` && status === 401) &&
    isSettled(post, key),

  /** Section 5: Only post looks again after 10 s. For other steps a list without a key, however young that is, shows that it is gone. */
  isUnlisted: ({ startedAt }: ProcessRecord, key: ApiKey, lagMs: number) =>
    creationOf(key) > Math.max(0, startedAt - lagMs),

  /** Section 5: The 10 s of a young key begin when the lists no longer show it. Post may then have no time left for them. */
  isShownLate: ({ sent, startedAt, endedAt: end }: ProcessRecord, key: ApiKey, marginMs: number) =>
    end - startedAt >= 20_000 - 1 &&
    sent.some((one) => one.keyList === 'whole' && !isAbsence(one, key) && end - (one.endedAt ?? 0) < 10_000 + marginMs),

  /** Section 3: The runner kills a post that is cancelled too late; a sweep finds what it left. */
  wasKilled: ({ exit }: ProcessRecord) => exit === 'killed' || exit === 'hung',
};

/** Absence counts only if it is still so 10 s after it was first seen, for a key that is young when post begins. */
function isSettled({ part, startedAt, sent }: ProcessRecord, key: ApiKey): boolean {
  if (part === 'main' || startedAt - creationOf(key) >= 60_000) return true;
  const absences = sent.filter((one) => isAbsence(one, key));
  // A response shows what was true between its request and its arrival.
  const lastAskedAt = Math.max(...absences.map(({ at }) => at));
  return lastAskedAt - Math.min(...absences.map(({ endedAt = 0 }) => endedAt)) >= 10_000 - 1;
}
