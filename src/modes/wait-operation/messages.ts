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
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { TrackedOperation } from './tracked-operations.js';
import type { Verdict, WaitResult } from './waiter.js';

interface WaitMessages {
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
      : { headline: `${plural(result.operations.length, 'operation')} finished` },

  empty: (result, context) => ({
    headline: 'Nothing to wait for',
    error: sentences(
      nothingToWaitFor(result, context),
      'The step fails because of fail-on: empty',
      context.wasGivenIds
        ? 'Check the step that produced the list of ids'
        : 'Check project-id and filter, and that the change was made before this step',
    ),
  }),

  failed: (result, context) => {
    const failed = result.operations.filter(isFailed);
    const pending = result.operations.filter(isPending);
    return {
      headline: `${describeShare(failed, result.operations)} failed`,
      error: sentences(
        `${describeShare(failed, result.operations)} in ${describeProjects(context)} failed: ${describeOperations(failed, context)}`,
        pending.length > 0 && `Stopped waiting for: ${describeOperations(pending, context)}`,
        result.cause !== undefined && `Last error: ${result.cause.message}`,
        'Do not deploy on top of this. Check the operation in the console, fix the cause, and repeat the change',
      ),
    };
  },

  timeout: (result, context) => {
    const { operations, cause } = result;
    const pending = operations.filter(isPending);
    const where = describeProjects(context);
    return {
      headline:
        pending.length === 0
          ? 'Could not confirm in time that nothing is pending'
          : `${describeShare(pending, operations)} not finished in time`,
      error: sentences(
        describeEnd(context.timeout, cause),
        pending.length === 0
          ? `Could not confirm that nothing is pending in ${where}`
          : `${describeShare(pending, operations)} in ${where} had not finished: ${describeOperations(pending, context)}`,
        ...timeoutReasons(result, context),
      ),
    };
  },

  cancelled: ({ operations }) => ({
    headline: `Cancelled; ${operations.filter((one) => !isPending(one)).length} of ${plural(operations.length, 'operation')} had ended`,
  }),

  error: ({ operations, cause }) => ({
    headline: 'Could not determine the outcome',
    error: sentences(
      cause?.message ?? '',
      operations.length > 1 &&
        `Before that, ${operations.filter((one) => !isPending(one)).length} of ${plural(operations.length, 'operation')} had ended`,
      cause !== undefined && adviceFor(cause, true),
    ),
  }),
};

function nothingToWaitFor({ failedBefore, excludedCount }: WaitResult, context: WaitContext): string {
  if (context.wasGivenIds) return 'The list of operation ids is empty, so there was nothing to wait for.';
  const failed = failedBefore.map((one) => describeOperation(one, context.nowMs));
  return sentences(
    `Found no unfinished operation to wait for in ${describeProjects(context)}`,
    excludedCount > 0 && `The filter excluded ${plural(excludedCount, 'unfinished operation')}`,
    failed.length > 0 && `Failed in the last 5 minutes: ${joinFirst(failed, messageBounds)}`,
  );
}

/** Explains the timeout, and what to do now. */
function timeoutReasons(
  { operations, cause, unresponsiveProjects }: WaitResult,
  { projectIds, timeout }: WaitContext,
): string[] {
  const advice = 'Check base-url and the network and proxy of the runner, then run the step again';
  if (cause !== undefined) return [`Last error: ${cause.message}`, adviceFor(cause, true)];
  if (unresponsiveProjects.length === projectIds.length) return ['The control API never responded', advice];
  if (unresponsiveProjects.length > 0)
    return [`The control API never responded for project ${joinFirst(unresponsiveProjects.map(sanitizeId))}`, advice];
  const unseen = operations.filter(({ operation }) => operation === undefined).length;
  if (unseen > 0) return [`The control API never reported the status of ${unseen} of them`, advice];
  if (timeout === 0) return ['Run the step again later, or set a longer timeout'];
  if (!operations.some(isPending))
    return [
      'The service may list a new operation late, so an empty list counts only after 5s. Set timeout to more than 5s',
    ];
  return ['Operations may still finish: check them in the console, or raise timeout'];
}

function describeProjects({ projectIds }: WaitContext): string {
  const ids = joinFirst(projectIds.map(sanitizeId), { max: 5 });
  return `${projectIds.length === 1 ? 'project' : 'projects'} ${ids}`;
}

export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

function describeEnd(timeout: number, cause: WaitResult['cause']): string {
  if (cause instanceof RetryAfterExceedsDeadline)
    return 'Stopped early, because the service asks to wait beyond the timeout';
  return timeout === 0 ? 'Polled once (timeout: 0)' : `Timed out after ${formatDuration(timeout)}`;
}

/** Describes the first few operations, with their projects if there are several. */
function describeOperations(some: readonly TrackedOperation[], { projectIds, nowMs }: WaitContext): string {
  const texts = some.map(({ id, projectId, operation }) => {
    const text = operation === undefined ? `[${id}] has no status yet` : describeOperation(operation, nowMs);
    return projectIds.length === 1 ? text : `${text} in project ${sanitizeId(projectId)}`;
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
  return some.length === all.length
    ? plural(all.length, 'operation')
    : `${some.length} of ${plural(all.length, 'operation')}`;
}
