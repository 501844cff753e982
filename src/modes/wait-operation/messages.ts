import { adviceFor } from '../../action/advice.js';
import type { StepReport } from '../../action/step-report.js';
import type { Operation } from '../../api/records.js';
import { RetryAfterExceedsDeadline } from '../../http/errors.js';
import { operationTexts } from '../../operations/description.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import { graceForUnlisted, recentFailureAge } from './limits.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';
import type { WaitResult } from './wait-result.js';

type WaitContext = WaitSettings & ReportFacts;

export function waitMessages(result: WaitResult, context: WaitContext): Omit<StepReport, 'status' | 'succeeded'> {
  const { verdict, operations, cause } = result;
  const failed = operations.filter(isFailed);
  const pending = operations.filter(isPending);
  const total = plural(operations.length, 'operation');
  const ended = `${operations.length - pending.length} of ${total} had ended`;
  const where = describeProjects(context.projectIds);
  const share = ({ length }: typeof operations) => (length === operations.length ? total : `${length} of ${total}`);
  const describe = (one: TrackedOperation) => describeTracked(one, context);
  const list = (some: typeof operations) => joinFirst(some.map(describe), messageBounds);
  switch (verdict) {
    case 'finished':
      if (operations.length > 0) return { headline: `${total} finished` };
      return { headline: 'Nothing to wait for', notice: nothingToWaitFor(result, context) };
    case 'empty':
      return {
        headline: 'Nothing to wait for',
        error: sentences(
          nothingToWaitFor(result, context),
          'The step fails because of fail-on: empty',
          'ids' in context.target
            ? 'Check the step that produced the list of ids'
            : 'Check project-id and filter. Also check that the request that starts the operation is sent before this step',
        ),
      };
    case 'failed': {
      const stopped = pending.length > 0 && `Stopped waiting for: ${list(pending)}`;
      const errorAboveTable = sentences(
        cause !== undefined && `Last error: ${cause.message}`,
        'Do not deploy on top of this. Check the operation in the console, fix the cause, and repeat the change',
      );
      const error = sentences(`${share(failed)} in ${where} failed: ${list(failed)}`, stopped, errorAboveTable);
      return { headline: `${share(failed)} failed`, error, errorAboveTable };
    }
    case 'timeout': {
      const end = describeEnd(context.timeout, cause);
      const reasons = timeoutReasons(result, context);
      const late = `${share(pending)} not finished in time`;
      const unfinished = `${share(pending)} in ${where} had not finished: ${list(pending)}`;
      const unsettled = `Could not confirm that nothing is pending in ${describeProjects(result.unsettledProjects)}`;
      return {
        headline: pending.length > 0 ? late : 'Could not confirm in time that nothing is pending',
        error: sentences(end, pending.length > 0 ? unfinished : unsettled, ...reasons),
        errorAboveTable: sentences(end, ...reasons),
      };
    }
    case 'cancelled':
      return { headline: operations.length === 0 ? 'Cancelled' : `Cancelled; ${ended}` };
    case 'error':
      return {
        headline: 'Could not determine the outcome',
        error: sentences(
          cause?.message ?? '',
          operations.length > 1 && `Before this error, ${ended}`,
          cause !== undefined && adviceFor(cause),
        ),
      };
  }
}

function nothingToWaitFor({ failedBefore, excluded, automatic }: WaitResult, context: WaitContext): string {
  if ('ids' in context.target) return 'The list of operation ids is empty, so there was nothing to wait for.';
  const failed = failedBefore.map((one) => describeOperation(one, context.nowMs));
  return sentences(
    `Found no unfinished operation to wait for in ${describeProjects(context.projectIds)}`,
    excluded > 0 && `The filter excluded ${plural(excluded, 'unfinished operation')}`,
    automatic > 0 &&
      `Ignored ${plural(automatic, 'unfinished operation')} that the service itself started. To wait for such operations too, add the line action=* to filter`,
    failed.length > 0 &&
      `Operations that failed in the last ${formatDuration(recentFailureAge)}: ${joinFirst(failed, messageBounds)}`,
  );
}

function timeoutReasons(result: WaitResult, { timeout }: WaitContext): string[] {
  const { operations, cause, unresponsiveProjects } = result;
  const advice = 'Check base-url, and the network and proxy of the runner. Then re-run the job';
  if (cause !== undefined) return [`Last error: ${cause.message}`, adviceFor(cause)];
  const silent = `The control API did not respond in the last seconds for ${describeProjects(unresponsiveProjects)}`;
  if (unresponsiveProjects.length > 0) return [silent, advice];
  if (timeout === 0) return ['Re-run the job later, or set a longer timeout'];
  if (operations.some(isPending)) return ['Operations may still finish: check them in the console, or raise timeout'];
  const proof = `A list may lack a new operation at first. So the step reads it again ${formatDuration(graceForUnlisted)} after the first read, and that read must show that nothing is pending`;
  return [proof, 'Raise timeout, or check why the service is slow'];
}

function describeProjects(projectIds: readonly string[]): string {
  const ids = joinFirst(projectIds.map(sanitizeId), { max: 5 });
  return `${projectIds.length === 1 ? 'project' : 'projects'} ${ids}`;
}

function describeEnd(timeout: number, cause: WaitResult['cause']): string {
  if (cause instanceof RetryAfterExceedsDeadline)
    return 'Stopped early, because the service asked for a pause that ends after the timeout';
  return timeout === 0 ? 'Polled once (timeout: 0)' : `Timed out after ${formatDuration(timeout)}`;
}

function describeTracked({ id, projectId, operation }: TrackedOperation, { projectIds, nowMs }: WaitContext): string {
  const text = operation === undefined ? `[${id}] has no status yet` : describeOperation(operation, nowMs);
  return projectIds.length === 1 ? text : `${text} in project ${sanitizeId(projectId)}`;
}

function describeOperation(operation: Operation, nowMs: number): string {
  const { name, status, phase, duration, failures, reason } = operationTexts(operation, nowMs);
  const age = duration === '' ? '' : ` ${phase === 'pending' ? 'for' : 'after'} ${duration}`;
  const count = ['', '0'].includes(failures) ? '' : ` (failures_count ${failures})`;
  return `${name} ${status}${age}${count}${reason === '' ? '' : `, ${reason}`}`;
}
