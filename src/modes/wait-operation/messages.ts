import { adviceFor } from '../../action/advice.js';
import type { StepReport } from '../../action/step-report.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { operationText } from '../../operations/description.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import type { WaitResult } from './conclude.js';
import { maxFirstRead } from './project.js';
import { maxListLag } from './quiet.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';

type Context = WaitSettings & ReportFacts;

/** The headline, and the text of the one error. */
export function waitMessages(result: WaitResult, context: Context): Pick<StepReport, 'headline' | 'error' | 'notice'> {
  const { verdict, operations, cause, unsettledProjects } = result;
  const [failed, pending] = [operations.filter(isFailed), operations.filter(isPending)];
  const total = plural(operations.length, 'operation');
  const where = projectsText(context.projectIds);
  const ended = `${operations.length - pending.length} of ${total} had ended`;
  const share = ({ length }: typeof operations) => (length === operations.length ? total : `${length} of ${total}`);
  const list = (some: typeof operations) => {
    const texts = some.map((one) => trackedText(one, context));
    return joinFirst(texts, messageBounds);
  };
  switch (verdict) {
    case 'finished':
      if (operations.length > 0) return { headline: `${total} finished` };
      return { headline: 'Nothing to wait for', notice: nothingText(result, context) };
    case 'empty': {
      const source = 'ids' in context.target ? 'what should have given ids' : 'project-id and filter';
      const advice = `With fail-on: empty, this fails the step. Check ${source}`;
      return { headline: 'Nothing to wait for', error: sentences(nothingText(result, context), advice) };
    }
    case 'failed': {
      const stopped = pending.length > 0 && `Stopped waiting for: ${list(pending)}`;
      const advice = 'Check them in the console, fix the cause, and repeat the change. Do not deploy before that';
      const error = sentences(`${share(failed)} in ${where} failed: ${list(failed)}`, stopped, advice);
      return { headline: `${share(failed)} failed`, error };
    }
    case 'timeout': {
      const headline = pending.length > 0 ? `${share(pending)} not finished in time` : 'Not confirmed in time';
      const unsure = `Could not confirm that nothing is pending in ${projectsText(unsettledProjects)}: two reads of the list, ${formatDuration(maxListLag)} apart, must agree`;
      const open = pending.length > 0 ? `${share(pending)} in ${where} had not finished: ${list(pending)}` : unsure;
      return { headline, error: sentences(endText(context, cause), open, ...reasons(result, context)) };
    }
    case 'cancelled':
      return { headline: operations.length === 0 ? 'Cancelled' : `Cancelled; ${ended}` };
    case 'error': {
      const before = operations.length > 1 && `Before this error, ${ended}`;
      const advice = cause instanceof RequestError && adviceFor(cause);
      return { headline: 'No result', error: sentences(cause?.message ?? '', before, advice) };
    }
  }
}

/** What a user must know even if the step succeeds. */
export function waitWarnings(
  { cutProjects, recentFailures, filterWarnings }: WaitResult,
  { nowMs }: ReportFacts,
): string[] {
  const count = maxFirstRead.toLocaleString('en');
  const cut = `The first read stopped at ${count} operations in ${projectsText(cutProjects)}, so older unfinished ones are not seen. To wait for one of them, give its id.`;
  const failures = recentFailures.map((one) => operationText(one, nowMs));
  const recent = `Failed shortly before the step, and not counted: ${joinFirst(failures, messageBounds)}. To count such failures, set a longer since.`;
  return [...filterWarnings, ...(cutProjects.length > 0 ? [cut] : []), ...(failures.length > 0 ? [recent] : [])];
}

function nothingText({ ignored }: WaitResult, { target, projectIds }: Context): string {
  if ('ids' in target) return `${target.whyNone}, so there is nothing to wait for.`;
  const excluded = ignored.filter((judgement) => judgement === 'excluded').length;
  const automatic = ignored.length - excluded;
  return sentences(
    `Found no operation to wait for in ${projectsText(projectIds)}`,
    excluded > 0 && `The filter excluded ${plural(excluded, 'unfinished operation')}`,
    automatic > 0 &&
      `The service itself started ${plural(automatic, 'unfinished operation')}. To count them, add a line action=… to filter`,
  );
}

function endText({ timeout, pollsOnce }: Context, cause: WaitResult['cause']): string {
  const asked = cause instanceof RetryAfterExceedsDeadline ? ', because the service asked for a longer pause' : '';
  return pollsOnce ? 'Polled once (timeout: 0)' : `Timed out after ${formatDuration(timeout)}${asked}`;
}

/** Why a wait timed out, and what to do. */
function reasons({ cause, silentProjects, lateProjects }: WaitResult, { pollsOnce }: Context): (string | false)[] {
  const never = `The control API never answered for ${projectsText(silentProjects)} (no usable response)`;
  const late = `The control API did not answer in the last seconds for ${projectsText(lateProjects)} (no usable response)`;
  const silent = silentProjects.length > 0 ? never : lateProjects.length > 0 && late;
  if (cause instanceof RequestError)
    return [!cause.isPermanent && silent, `Last error: ${cause.message}`, adviceFor(cause)];
  if (silent) return [silent, 'Check base-url, and the network and proxy of the runner'];
  if (pollsOnce) return ['Run the step again later, or set a longer timeout'];
  return ['Check the console. If the operations are only slow, raise timeout'];
}

function projectsText(projectIds: readonly string[]): string {
  return `${projectIds.length === 1 ? 'project' : 'projects'} ${joinFirst(projectIds.map(sanitizeId), { max: 5 })}`;
}

function trackedText({ id, projectId, operation }: TrackedOperation, { projectIds, nowMs }: Context): string {
  const text = operation === undefined ? `[${id}] has no status yet` : operationText(operation, nowMs);
  return projectIds.length === 1 ? text : `${text} in project ${sanitizeId(projectId)}`;
}
