import { adviceFor } from '../../action/advice.js';
import { failureReport } from '../../action/failure-report.js';
import { codeHtml } from '../../action/markdown.js';
import type { StepReport } from '../../action/step-report.js';
import { isFailed, isPending, phaseForStatus } from '../../api/operation-status.js';
import { fieldTime, type Operation } from '../../api/records.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import { define, type ReportFacts } from '../mode.js';
import { operationTable, operationText, operationTexts } from '../operation-texts.js';
import type { WaitResult } from './conclude.js';
import { maxFirstRead } from './project.js';
import { maxListLag } from './quiet.js';
import { readWaitSettings, type WaitSettings } from './settings.js';
import { waitOperation } from './wait-operation.js';

const order = ['failed', 'pending', 'succeeded'];
/** A timeout tells a silence of so many milliseconds. */
const lastSeconds = 5_000;

export function waitReport(result: WaitResult, settings: WaitSettings, facts: ReportFacts): StepReport {
  const { verdict, operations } = result;
  const { projectIds, target } = settings;
  const placeOf = ({ status }: Operation) => order.indexOf(phaseForStatus(status));
  const sorted = operations.toSorted((one, other) => placeOf(one) - placeOf(other));
  const table = operationTable(sorted, (one) => ({
    ...operationTexts(one, facts.nowMs),
    project: projectIds.length > 1 ? sanitizeId(one.projectId) : '',
  }));
  const shown = joinFirst(projectIds.map((id) => codeHtml(sanitizeId(id))));
  const where = projectIds.length === 0 ? [] : [`${projectIds.length === 1 ? 'Project' : 'Projects'} ${shown}`];
  const ids = operations.map(({ id }) => id);
  const criteria = 'all' in target ? [`since ${formatDuration(target.since)}`, ...target.all.texts] : [];
  const texts = [...where, ...criteria.map(codeHtml), `waited ${formatDuration(result.elapsed)}`];
  return {
    ...messages(result, settings, facts),
    warnings: warnings(result, facts),
    status: verdict,
    succeeded: verdict === 'finished',
    outputs: {
      count: ids.length,
      'operation-id': decidingId(result),
      'operation-ids': ids,
      operations: operations.map(({ record }) => record).filter((record) => 'id' in record),
      ...('all' in target && { 'idle-project-ids': result.idleProjects }),
    },
    resultFields: { project_ids: projectIds },
    details: `<p>${texts.join(', ')}.</p>\n${table}`,
  };
}

export const waitOperationMode = define({
  read: readWaitSettings,
  run: waitOperation,
  report: waitReport,
  acceptsZeroTimeout: true,
  concludesItself: true,
});

/** The operation that decided how the wait ended, else the newest that counts. */
function decidingId({ verdict, operations, failedId }: WaitResult): string {
  const isFailure = verdict === 'failed' ? isFailed : ({ id }: Operation) => id === failedId;
  const decided = operations.find(['failed', 'error'].includes(verdict) ? isFailure : isPending);
  const createdAt = (one: Operation) => fieldTime(one, 'created_at') ?? 0;
  return (decided ?? operations.toSorted((one, other) => createdAt(other) - createdAt(one))[0])?.id ?? '';
}

type Messages = Pick<StepReport, 'headline' | 'error' | 'notice'>;

function messages(result: WaitResult, { pollsOnce }: WaitSettings, { timeout, nowMs }: ReportFacts): Messages {
  const { verdict, projects, operations, failure } = result;
  const total = plural(operations.length, 'operation');
  const share = ({ length }: readonly unknown[]) => (length === operations.length ? total : `${length} of ${total}`);
  const list = (some: typeof operations) => {
    const texts = some.map((one) => `${operationText(one, nowMs)} in project ${sanitizeId(one.projectId)}`);
    return joinFirst(texts, messageBounds);
  };
  const where = projects.length === 0 ? '' : ` in ${projectsText(projects)}`;
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
      const headline = `${share(failed)} failed`;
      const advice = 'Check them in the console, fix the cause, and repeat the change. Do not deploy before that';
      return { headline, error: sentences(`${headline}: ${list(failed)}`, advice) };
    }
    case 'timeout': {
      const pending = operations.filter(isPending);
      const unsettled = projects.filter(({ isSettled }) => !isSettled);
      const headline = pending.length > 0 ? `${share(pending)} not finished in time` : 'Not confirmed in time';
      const end = pollsOnce ? 'Polled once (timeout: 0)' : `Timed out after ${formatDuration(timeout)}`;
      const unsure = `Could not confirm that nothing is pending in ${projectsText(unsettled)}: two reads of the list, ${formatDuration(maxListLag)} apart, must agree`;
      const open = pending.length > 0 ? `${share(pending)} had not finished: ${list(pending)}` : unsure;
      return { headline, error: sentences(end, open, ...reasons(unsettled, result.elapsed)) };
    }
    case 'cancelled':
      return { headline: 'Cancelled' };
    case 'error':
      return failureReport(failure, timeout);
  }
}

/** Why a wait timed out, and what to do. */
function reasons(unsettled: WaitResult['projects'], elapsed: number): (string | false)[] {
  const silentSince = (time: number) => unsettled.filter(({ troubles }) => (troubles.answeredAt ?? -1) < time);
  const [never, late] = [silentSince(0), silentSince(elapsed - lastSeconds)];
  const [silent, how] = never.length > 0 ? [never, 'never answered'] : [late, 'did not answer in the last seconds'];
  const silence = silent.length > 0 && `The control API ${how} for ${projectsText(silent)} (no usable response)`;
  const error = unsettled.map(({ troubles }) => troubles.latest).find((one) => one !== undefined);
  if (error !== undefined) return [!error.isPermanent && silence, `Last error: ${error.message}`, adviceFor(error)];
  return [silence, 'Check the console and the network. If the operations are only slow, raise timeout'];
}

/** What a user must know even if the step succeeds. */
function warnings({ projects, filterWarnings }: WaitResult, { nowMs }: ReportFacts): string[] {
  const cutProjects = projects.filter(({ isCut }) => isCut);
  const count = maxFirstRead.toLocaleString('en');
  const cut = `The first read stopped at ${count} operations in ${projectsText(cutProjects)}, so older unfinished ones are not seen. To wait for one of them, give its id.`;
  const failures = projects.flatMap(({ operations }) => [...operations.recentFailures.values()]);
  const texts = failures.map((one) => operationText(one, nowMs));
  const recent = `These operations failed shortly before the step, and do not count: ${joinFirst(texts, messageBounds)}. To count them, give the input since a longer time.`;
  return [...filterWarnings, ...(cutProjects.length > 0 ? [cut] : []), ...(failures.length > 0 ? [recent] : [])];
}

function projectsText(projects: readonly { readonly id: string }[]): string {
  const ids = projects.map(({ id }) => sanitizeId(id));
  return `${ids.length === 1 ? 'project' : 'projects'} ${joinFirst(ids, { max: 5 })}`;
}
