import { adviceFor } from '../../action/advice.js';
import type { Operation } from '../../api/records.js';
import { RetryAfterExceedsDeadline } from '../../http/errors.js';
import {
  operationDuration,
  operationFailures,
  operationName,
  operationStatus,
  phaseForStatus,
} from '../../operations/description.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import { NotFoundError } from './poll-failures.js';
import type { TrackedOperation } from './tracked-operations.js';
import type { Verdict, WaitResult } from './waiter.js';

export interface WaitMessages {
  readonly headline: string;
  /**
   * Says what happened to which operation, how the service responded, and what to do. Undefined if there is nothing to
   * do.
   */
  readonly error?: string;
  readonly notice?: string;
}

interface WaitContext {
  readonly projectIds: readonly string[];
  readonly wasGivenIds: boolean;
  /** Milliseconds. 0 means a single poll. */
  readonly timeout: number;
  /** Milliseconds since 1970: now, on the service's clock. */
  readonly nowMs: number;
}

export function waitMessages(result: WaitResult, context: WaitContext): WaitMessages {
  return messagesFor[result.verdict](result, context);
}

const messagesFor: Record<Verdict, (result: WaitResult, context: WaitContext) => WaitMessages> = {
  finished: (result, context) =>
    result.operations.length === 0
      ? { headline: 'Nothing to wait for', notice: nothingToWaitFor(result, context) }
      : { headline: `${operationCount(result.operations.length)} finished` },

  empty: (result, context) => ({
    headline: 'Nothing to wait for',
    error: sentences(
      nothingToWaitFor(result, context),
      'With fail-on: empty that fails the step',
      context.wasGivenIds
        ? 'Check the step that made the list of ids'
        : 'Check project-id and filter, and whether the change was made before this step',
    ),
  }),

  failed: (result, context) => {
    const failed = result.operations.filter(isFailed);
    const pending = result.operations.filter(isPending);
    return {
      headline: `${describeShare(failed, result.operations)} failed`,
      error: sentences(
        `${describeShare(failed, result.operations)} in ${describeProjects(context)} failed: ${describeOperations(failed, context)}`,
        pending.length > 0 && `No longer waiting for: ${describeOperations(pending, context)}`,
        result.cause !== undefined && `Last error: ${result.cause.message}`,
        'Do not deploy on top of this. Check the operation in the console, fix the cause, and repeat the change',
      ),
    };
  },

  timeout: (result, context) => {
    const { operations, cause } = result;
    const pending = operations.filter(isPending);
    const when = describeEnd(context.timeout, cause);
    const where = describeProjects(context);
    return {
      headline:
        pending.length === 0
          ? 'Could not determine what is unfinished in time'
          : `${describeShare(pending, operations)} not finished in time`,
      error: sentences(
        pending.length === 0
          ? `Could not determine which operations of ${where} are unfinished ${when}`
          : `${describeShare(pending, operations)} in ${where} had not finished ${when}: ${describeOperations(pending, context)}`,
        ...timeoutReasons(result, context),
      ),
    };
  },

  cancelled: ({ operations }) => ({
    headline: `Cancelled; ${operations.filter((one) => !isPending(one)).length} of ${operationCount(operations.length)} had ended`,
  }),

  error: ({ operations, cause }) => ({
    headline: 'Could not determine the outcome',
    error: sentences(
      cause?.message ?? '',
      operations.length > 1 &&
        `Until then ${operations.filter((one) => !isPending(one)).length} of ${operationCount(operations.length)} had ended`,
      cause !== undefined && adviceFor(cause instanceof NotFoundError ? cause.requestError : cause, true),
    ),
  }),
};

function nothingToWaitFor({ failedBefore, excludedCount }: WaitResult, context: WaitContext): string {
  if (context.wasGivenIds) return 'The list of operations is empty: nothing was waited for.';
  const failed = failedBefore.map((one) => describeOperation(one, context.nowMs));
  return sentences(
    `No unfinished operation in ${describeProjects(context)} matches`,
    excludedCount > 0 && `filter left out ${excludedCount} unfinished operation${excludedCount === 1 ? '' : 's'}`,
    failed.length > 0 && `Failed in the last 5 minutes: ${joinFirst(failed, messageBounds)}`,
  );
}

/** Explains the timeout, and what to do now. */
function timeoutReasons(
  { operations, cause, unresponsiveProjects }: WaitResult,
  { projectIds, timeout }: WaitContext,
): string[] {
  const advice = 'Check base-url, and the network and the proxy of the runner; then run the step again';
  if (cause !== undefined)
    return [
      `Last error: ${cause.message}`,
      adviceFor(cause instanceof NotFoundError ? cause.requestError : cause, true),
    ];
  if (unresponsiveProjects.length === projectIds.length) return ['The control API never responded', advice];
  if (unresponsiveProjects.length > 0)
    return [
      `The control API never responded for project ${joinFirst(unresponsiveProjects.map((id) => sanitizeLine(id, 80)))}`,
      advice,
    ];
  const unseen = operations.filter(({ operation }) => operation === undefined).length;
  if (unseen > 0) return [`No response came for ${unseen} of them`, advice];
  if (timeout === 0) return ['Check again later, or set a timeout'];
  if (!operations.some(isPending)) return ['An empty list is believed only after 5s: raise timeout'];
  return ['They may still finish: check them in the console, or raise timeout if they take longer'];
}

function describeProjects({ projectIds }: WaitContext): string {
  const ids = joinFirst(
    projectIds.map((id) => sanitizeLine(id, 80)),
    { max: 5 },
  );
  return `${projectIds.length === 1 ? 'project' : 'projects'} ${ids}`;
}

export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

function describeEnd(timeout: number, cause: WaitResult['cause']): string {
  if (cause instanceof RetryAfterExceedsDeadline) return 'when the service asked for more time than was left';
  return timeout === 0
    ? 'at the one poll that timeout: 0 allows'
    : `when the timeout of ${formatDuration(timeout)} ended`;
}

/** Describes the first few operations, with their projects if there are several. */
function describeOperations(some: readonly TrackedOperation[], { projectIds, nowMs }: WaitContext): string {
  const texts = some.map(({ id, projectId, operation }) => {
    const text = operation === undefined ? `[${id}] not seen yet` : describeOperation(operation, nowMs);
    return projectIds.length === 1 ? text : `${text} in project ${sanitizeLine(projectId, 80)}`;
  });
  return joinFirst(texts, messageBounds);
}

function describeOperation(operation: Operation, nowMs: number): string {
  const duration = operationDuration(operation, nowMs);
  const failures = operationFailures(operation);
  return [
    `${operationName(operation)} ${operationStatus(operation)}`,
    duration === undefined ? '' : ` ${phaseForStatus(operation.status) === 'pending' ? 'for' : 'after'} ${duration}`,
    failures === undefined || failures === '0' ? '' : ` (failures_count ${failures})`,
  ].join('');
}

function describeShare(some: readonly unknown[], all: readonly unknown[]): string {
  return some.length === all.length ? operationCount(all.length) : `${some.length} of ${operationCount(all.length)}`;
}

function operationCount(operations: number): string {
  return `${operations} operation${operations === 1 ? '' : 's'}`;
}
