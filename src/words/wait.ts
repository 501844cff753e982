import type { Operation } from '../api/records.js';
import { AskedToWaitTooLong } from '../http/errors.js';
import { failuresOf, lengthInWords, nameOf, statusOf } from '../modes/operations/describe.js';
import { phaseOf } from '../modes/operations/status.js';
import { NotFound } from '../modes/wait/forbearance.js';
import type { Watched } from '../modes/wait/roster.js';
import type { Verdict, Waited } from '../modes/wait-operation.js';
import { firstOf, stories } from '../text/first-of.js';
import { plain } from '../text/plain.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';

/** How a wait ended, in words. */
export interface Words {
  readonly headline: string;
  /** What happened, to which operation, what the service said, and what to do; none where nothing is to be done. */
  readonly error?: string;
  readonly notice?: string;
}

interface Circumstances {
  readonly projectId: string;
  readonly wasGivenIds: boolean;
  /** Milliseconds; 0: one look. */
  readonly timeout: number;
  /** Now, in milliseconds since 1970. */
  readonly date: number;
}

export function inWords(waited: Waited, circumstances: Circumstances): Words {
  return words[waited.verdict](waited, circumstances);
}

const words: Record<Verdict, (waited: Waited, circumstances: Circumstances) => Words> = {
  finished: (waited, circumstances) =>
    waited.watched.length === 0
      ? { headline: 'Nothing to wait for', notice: nothingToWaitFor(waited, circumstances) }
      : { headline: `${count(waited.watched.length)} finished` },

  empty: (waited, circumstances) => ({
    headline: 'Nothing to wait for',
    error: `${nothingToWaitFor(waited, circumstances)} With fail-on: empty that fails the step. Is project-id right, and was the change made before this step?`,
  }),

  failed: (waited, { projectId, date }) => {
    const failed = waited.watched.filter(isFailed);
    const pending = waited.watched.filter(isPending);
    return {
      headline: `${share(failed, waited.watched)} failed`,
      error: sentences(
        `${share(failed, waited.watched)} in project ${plain(projectId, 80)} failed: ${firstOf(
          failed.map((one) => standing(one, date)),
          stories,
        )}`,
        pending.length > 0 &&
          `Not awaited any longer: ${firstOf(
            pending.map((one) => standing(one, date)),
            stories,
          )}`,
        waited.cause !== undefined && `Besides: ${waited.cause.message}`,
        'Nothing that builds on this should go on: look at the operation in the console, mend the cause, and make the change again',
      ),
    };
  },

  timeout: ({ watched, cause }, { projectId, timeout, date }) => {
    const pending = watched.filter(isPending);
    const when = momentOf(timeout, cause);
    return {
      headline: pending.length === 0 ? 'The list was not seen in time' : `${share(pending, watched)} not ended in time`,
      error: sentences(
        pending.length === 0
          ? `Which operations of project ${plain(projectId, 80)} are unfinished could not be seen ${when}`
          : `${share(pending, watched)} in project ${plain(projectId, 80)} had not ended ${when}: ${firstOf(
              pending.map((one) => standing(one, date)),
              stories,
            )}`,
        cause !== undefined && `What was met last: ${cause.message}`,
        cause === undefined ? whatToDoInTime(timeout) : adviceFor(cause instanceof NotFound ? cause.answer : cause),
      ),
    };
  },

  cancelled: ({ watched }) => ({
    headline: `Cancelled; ${watched.filter((one) => !isPending(one)).length} of ${count(watched.length)} had ended`,
  }),

  error: ({ watched, cause }) => ({
    headline: 'The end could not be seen',
    error: sentences(
      cause?.message ?? '',
      watched.length > 1 &&
        `${watched.filter((one) => !isPending(one)).length} of ${count(watched.length)} had ended until then`,
      cause !== undefined && adviceFor(cause instanceof NotFound ? cause.answer : cause),
    ),
  }),
};

function nothingToWaitFor({ failedBefore }: Waited, { projectId, wasGivenIds, date }: Circumstances): string {
  if (wasGivenIds) return 'The list of operations is empty: nothing was waited for.';
  return sentences(
    `No unfinished operation among the newest 200 of project ${plain(projectId, 80)} that filter admits`,
    failedBefore.length > 0 &&
      `But in the last 5 minutes there failed: ${firstOf(
        failedBefore.map((one) => story(one, date)),
        stories,
      )}`,
  );
}

export function isPending({ operation }: Watched): boolean {
  return operation === undefined || phaseOf(operation.status) === 'pending';
}

export function isFailed({ operation }: Watched): boolean {
  return operation !== undefined && phaseOf(operation.status) === 'failed';
}

function momentOf(timeout: number, cause: Waited['cause']): string {
  if (cause instanceof AskedToWaitTooLong) return 'when the service asked for more time than was left';
  return timeout === 0
    ? 'at the one look that timeout: 0 allows'
    : `when the timeout of ${formatDuration(timeout)} ended`;
}

function whatToDoInTime(timeout: number): string {
  if (timeout === 0) return 'Look again later, or set a timeout';
  return 'They may still finish: look at them in the console, and raise timeout if they take longer';
}

function standing({ id, operation }: Watched, date: number): string {
  return operation === undefined ? `[${id}] not seen yet` : story(operation, date);
}

function story(operation: Operation, date: number): string {
  const length = lengthInWords(operation, date);
  const failures = failuresOf(operation);
  return [
    `${nameOf(operation)} ${statusOf(operation)}`,
    length === undefined ? '' : ` ${phaseOf(operation.status) === 'pending' ? 'for' : 'after'} ${length}`,
    failures === undefined || failures === '0' ? '' : ` (failures_count ${failures})`,
  ].join('');
}

function share(some: readonly unknown[], all: readonly unknown[]): string {
  return some.length === all.length ? count(all.length) : `${some.length} of ${count(all.length)}`;
}

function count(operations: number): string {
  return `${operations} operation${operations === 1 ? '' : 's'}`;
}
