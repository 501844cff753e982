import { adviceFor } from '../../action/advice.js';
import type { StepReport } from '../../action/step-report.js';
import { RequestError } from '../../http/errors.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import { operationText } from '../operations.js';
import type { WaitResult } from './conclude.js';
import { maxFirstRead } from './project.js';
import { maxListLag } from './quiet.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';

type Context = WaitSettings & ReportFacts;

/** The headline, and the text of the one error. */
export function waitMessages(result: WaitResult, context: Context): Pick<StepReport, 'headline' | 'error' | 'notice'> {
  const { verdict, operations, cause, unsettledProjects } = result;
  const { projectIds, timeout, pollsOnce } = context;
  const total = plural(operations.length, 'operation');
  const where = projectIds.length === 0 ? '' : ` in ${projectsText(projectIds)}`;
  const share = ({ length }: typeof operations) => (length === operations.length ? total : `${length} of ${total}`);
  const list = (some: typeof operations) => {
    const texts = some.map((one) => trackedText(one, context));
    return joinFirst(texts, messageBounds);
  };
  const nothing = { headline: 'Nothing to wait for', notice: `Found no operation to wait for${where}.` };
  switch (verdict) {
    case 'finished':
      return operations.length === 0 ? nothing : { headline: `${total} finished` };
    case 'empty': {
      const advice = 'With fail-on: empty, this fails the step. Check the ids, or project-id and filter';
      return { headline: nothing.headline, error: sentences(nothing.notice, advice) };
    }
    case 'failed': {
      const failed = operations.filter(isFailed);
      const advice = 'Check them in the console, fix the cause, and repeat the change. Do not deploy before that';
      const error = sentences(`${share(failed)}${where} failed: ${list(failed)}`, advice);
      return { headline: `${share(failed)} failed`, error };
    }
    case 'timeout': {
      const pending = operations.filter(isPending);
      const headline = pending.length > 0 ? `${share(pending)} not finished in time` : 'Not confirmed in time';
      const end = pollsOnce ? 'Polled once (timeout: 0)' : `Timed out after ${formatDuration(timeout)}`;
      const unsure = `Could not confirm that nothing is pending in ${projectsText(unsettledProjects)}: two reads of the list, ${formatDuration(maxListLag)} apart, must agree`;
      const open = pending.length > 0 ? `${share(pending)}${where} had not finished: ${list(pending)}` : unsure;
      return { headline, error: sentences(end, open, ...reasons(result, pollsOnce)) };
    }
    case 'cancelled':
      return { headline: 'Cancelled' };
    case 'error': {
      const advice = cause instanceof RequestError && adviceFor(cause);
      return { headline: 'No result', error: sentences(cause?.message ?? '', advice) };
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

/** Why a wait timed out, and what to do. */
function reasons({ cause, silentProjects, lateProjects }: WaitResult, pollsOnce: boolean): (string | false)[] {
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
