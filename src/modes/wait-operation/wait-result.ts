import type { RequestError } from '../../http/errors.js';
import type { ProjectPoller } from './project-poller.js';
import type { WaitSettings } from './settings.js';

type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';

/** An error ends the wait with the verdict `error` or, after a long `Retry-After`, `timeout`. */
export type WaitEnd = Exclude<Verdict, 'error'> | Error;

/** The failure that ended the wait for a project, of the first such project. */
export function firstFailure(projects: readonly ProjectPoller[]): RequestError | undefined {
  return projects.find(({ failure }) => failure !== undefined)?.failure;
}

/** Returns an end only if no later response can change it. Only this function lets a wait succeed. */
export function settledEnd(
  projects: readonly ProjectPoller[],
  { failFast, failOnEmpty }: WaitSettings,
): WaitEnd | undefined {
  const hasFailed = projects.some(({ tracked }) => tracked.hasFailed);
  const failure = hasFailed ? 'failed' : firstFailure(projects);
  const areAllOver = projects.every(({ isSettled, hasGivenUp }) => isSettled || hasGivenUp);
  if (failure !== undefined) return failFast || areAllOver ? failure : undefined;
  if (!areAllOver) return undefined;
  return failOnEmpty && projects.every(({ tracked }) => tracked.all.length === 0) ? 'empty' : 'finished';
}

export function summarize(verdict: Verdict, projects: readonly ProjectPoller[]) {
  const lists = projects.flatMap(({ idleness }) => idleness ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const hasFailed = projects.some(({ tracked }) => tracked.hasFailed);
  return {
    // A failed operation stays failed, so `failed` takes precedence over `timeout` and `error`.
    verdict: verdict !== 'cancelled' && hasFailed ? 'failed' : verdict,
    operations: projects.flatMap(({ tracked }) => tracked.all),
    // `Idleness` describes the following three fields.
    failedBefore: lists.flatMap(({ failedBefore }) => [...failedBefore.values()]),
    ignored: {
      excluded: sum(lists.map(({ ignored }) => ignored.excluded)),
      automatic: sum(lists.map(({ ignored }) => ignored.automatic)),
    },
    cutProjects: projects.filter(({ idleness }) => idleness?.isCut).map(({ id }) => id),
    /** The projects for which the step still waited. */
    unsettledProjects: projects.filter(({ isSettled }) => !isSettled).map(({ id }) => id),
    /** The projects that later steps may go on with. */
    idleProjects: projects.filter((project) => project.isIdle(verdict === 'timeout')).map(({ id }) => id),
  };
}
