import type { Operation } from '../api/records.js';
import { AskedToWaitTooLong } from '../http/errors.js';
import { failuresOf, lengthInWords, nameOf, statusOf } from '../modes/operations/describe.js';
import { phaseOf } from '../modes/operations/status.js';
import { NotFound } from '../modes/wait/poll-failures.js';
import type { Watched } from '../modes/wait/roster.js';
import type { Verdict, Waited } from '../modes/wait-operation.js';
import { firstOf, stories } from '../text/first-of.js';
import { plain } from '../text/plain.js';
import { sentences } from '../text/sentences.js';
import { formatDuration } from '../time/duration.js';
import { adviceFor } from './advice.js';

export interface Words {
  readonly headline: string;
  /**
   * Says what happened to which operation, how the service responded, and what to do. Undefined if there is nothing to
   * do.
   */
  readonly error?: string;
  readonly notice?: string;
}

interface Circumstances {
  readonly projectIds: readonly string[];
  readonly wasGivenIds: boolean;
  /** Milliseconds. 0 means a single poll. */
  readonly timeout: number;
  /** Milliseconds since 1970: now, on the service's clock. */
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
    error: sentences(
      nothingToWaitFor(waited, circumstances),
      'With fail-on: empty that fails the step',
      circumstances.wasGivenIds
        ? 'Check the step that made the list of ids'
        : 'Check project-id and filter, and whether the change was made before this step',
    ),
  }),

  failed: (waited, circumstances) => {
    const failed = waited.watched.filter(isFailed);
    const pending = waited.watched.filter(isPending);
    return {
      headline: `${share(failed, waited.watched)} failed`,
      error: sentences(
        `${share(failed, waited.watched)} in ${projectsOf(circumstances)} failed: ${stand(failed, circumstances)}`,
        pending.length > 0 && `No longer waiting for: ${stand(pending, circumstances)}`,
        waited.cause !== undefined && `Last error: ${waited.cause.message}`,
        'Do not deploy on top of this. Check the operation in the console, fix the cause, and repeat the change',
      ),
    };
  },

  timeout: (waited, circumstances) => {
    const { watched, cause } = waited;
    const pending = watched.filter(isPending);
    const when = momentOf(circumstances.timeout, cause);
    const where = projectsOf(circumstances);
    return {
      headline:
        pending.length === 0
          ? 'Could not determine what is unfinished in time'
          : `${share(pending, watched)} not finished in time`,
      error: sentences(
        pending.length === 0
          ? `Could not determine which operations of ${where} are unfinished ${when}`
          : `${share(pending, watched)} in ${where} had not finished ${when}: ${stand(pending, circumstances)}`,
        ...whyLate(waited, circumstances),
      ),
    };
  },

  cancelled: ({ watched }) => ({
    headline: `Cancelled; ${watched.filter((one) => !isPending(one)).length} of ${count(watched.length)} had ended`,
  }),

  error: ({ watched, cause }) => ({
    headline: 'Could not determine the outcome',
    error: sentences(
      cause?.message ?? '',
      watched.length > 1 &&
        `Until then ${watched.filter((one) => !isPending(one)).length} of ${count(watched.length)} had ended`,
      cause !== undefined && adviceFor(cause instanceof NotFound ? cause.answer : cause, true),
    ),
  }),
};

function nothingToWaitFor({ failedBefore, notAdmitted }: Waited, circumstances: Circumstances): string {
  if (circumstances.wasGivenIds) return 'The list of operations is empty: nothing was waited for.';
  const failed = failedBefore.map((one) => story(one, circumstances.date));
  return sentences(
    `No unfinished operation in ${projectsOf(circumstances)} matches`,
    notAdmitted > 0 && `filter left out ${notAdmitted} unfinished operation${notAdmitted === 1 ? '' : 's'}`,
    failed.length > 0 && `Failed in the last 5 minutes: ${firstOf(failed, stories)}`,
  );
}

/** Explains the timeout, and what to do now. */
function whyLate({ watched, cause, unanswered }: Waited, { projectIds, timeout }: Circumstances): string[] {
  const advice = 'Check base-url, and the network and the proxy of the runner; then run the step again';
  if (cause !== undefined)
    return [`Last error: ${cause.message}`, adviceFor(cause instanceof NotFound ? cause.answer : cause, true)];
  if (unanswered.length === projectIds.length) return ['The control API never responded', advice];
  if (unanswered.length > 0)
    return [`The control API never responded for project ${firstOf(unanswered.map((id) => plain(id, 80)))}`, advice];
  const unseen = watched.filter(({ operation }) => operation === undefined).length;
  if (unseen > 0) return [`No response came for ${unseen} of them`, advice];
  if (timeout === 0) return ['Check again later, or set a timeout'];
  if (!watched.some(isPending)) return ['An empty list is believed only after 5s: raise timeout'];
  return ['They may still finish: check them in the console, or raise timeout if they take longer'];
}

function projectsOf({ projectIds }: Circumstances): string {
  const ids = firstOf(
    projectIds.map((id) => plain(id, 80)),
    { most: 5 },
  );
  return `${projectIds.length === 1 ? 'project' : 'projects'} ${ids}`;
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
    ? 'at the one poll that timeout: 0 allows'
    : `when the timeout of ${formatDuration(timeout)} ended`;
}

/** Describes the first few operations, with their projects if there are several. */
function stand(some: readonly Watched[], { projectIds, date }: Circumstances): string {
  const texts = some.map(({ id, projectId, operation }) => {
    const text = operation === undefined ? `[${id}] not seen yet` : story(operation, date);
    return projectIds.length === 1 ? text : `${text} in project ${plain(projectId, 80)}`;
  });
  return firstOf(texts, stories);
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
