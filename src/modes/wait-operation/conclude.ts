import { UserError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';
import type { Project } from './project.js';
import type { WaitSettings } from './settings.js';

type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';
type End = { readonly deadline: Deadline; readonly isCancelled: boolean };

export type WaitResult = ReturnType<typeof conclude>;

/** The last seconds of a wait, for the message after a timeout. In milliseconds. */
const lastSeconds = 5_000;

/** The only place that says `finished`. `failed` outranks `timeout`, and that `error`. */
function verdictOf(
  projects: readonly Project[],
  { failOnEmpty, pollsOnce }: WaitSettings,
  isFilterWrong: boolean,
  { deadline, isCancelled }: End,
): Verdict {
  if (isCancelled) return 'cancelled';
  if (projects.some(({ operations }) => operations.hasFailed)) return 'failed';
  if (projects.every(({ isSettled }) => isSettled)) {
    if (isFilterWrong) return 'error';
    return failOnEmpty && projects.every(({ operations }) => operations.all.length === 0) ? 'empty' : 'finished';
  }
  const isLate = ({ isDone, isSettled, failure }: Project) =>
    pollsOnce ? failure === undefined && !isSettled : deadline.isExpired && !isDone;
  return projects.some(({ failure }) => failure !== undefined) && !projects.some(isLate) ? 'error' : 'timeout';
}

export function conclude(projects: readonly Project[], settings: WaitSettings, end: End) {
  const { target } = settings;
  const { error: filterError, warnings: filterWarnings = [] } = 'all' in target ? target.all.missing : {};
  const verdict = verdictOf(projects, settings, filterError !== undefined, end);
  const now = end.deadline.clock.now();
  const unsettled = projects.filter(({ isSettled }) => !isSettled);
  const silentSince = (time: number) => idsOf(unsettled.filter(({ troubles }) => (troubles.answeredAt ?? -1) < time));
  const failure = verdict === 'error' ? unsettled.find((project) => project.failure !== undefined)?.failure : undefined;
  const latest = unsettled.map(({ troubles }) => troubles.latest).find((error) => error !== undefined);
  const isIdle = ({ isSettled, operations }: Project) =>
    isSettled && !operations.hasFailed && filterError === undefined;
  return {
    verdict,
    operations: projects.flatMap(({ operations }) => operations.all),
    /** The projects with which later steps may go on. */
    idleProjects: idsOf(projects.filter(isIdle)),
    unsettledProjects: idsOf(unsettled),
    /** Unsettled, and without a usable response: ever, and in the last seconds. */
    silentProjects: silentSince(0),
    lateProjects: silentSince(now - lastSeconds),
    cutProjects: idsOf(projects.filter(({ isCut }) => isCut)),
    recentFailures: projects.flatMap(({ operations }) => [...operations.recentFailures.values()]),
    filterWarnings,
    /** What ended the wait. After a timeout, the latest failure of a request that has no answer yet. */
    cause: failure?.error ?? latest ?? (filterError === undefined ? undefined : new UserError(filterError)),
    failedId: failure?.operationId,
    elapsed: now,
  };
}

const idsOf = (projects: readonly Project[]) => projects.map(({ id }) => id);
