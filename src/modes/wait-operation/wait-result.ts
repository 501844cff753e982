import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { resendAfter } from './limits.js';
import type { PollContext } from './poll-context.js';
import type { ProjectPoller } from './project-poller.js';
import type { WaitSettings } from './settings.js';

type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';

/** An error ends the wait with the verdict `error` or, after a long `Retry-After`, `timeout`. */
export type WaitEnd = Exclude<Verdict, 'error'> | Error;

export type WaitResult = ReturnType<typeof waitResult>;

/** Returns the failure of the first project for which the wait has failed. */
export function firstFailure(projects: readonly ProjectPoller[]): RequestError | undefined {
  return projects.find(({ failure }) => failure !== undefined)?.failure;
}

/** Returns an end only if no later response can change it. Only this function lets a wait succeed. */
export function settledEnd(projects: readonly ProjectPoller[], settings: WaitSettings): WaitEnd | undefined {
  const { failFast, failOnEmpty } = settings;
  const hasFailed = projects.some(({ tracked }) => tracked.hasFailed);
  const failure = hasFailed ? 'failed' : firstFailure(projects);
  const areAllOver = projects.every(({ isSettled, hasGivenUp }) => isSettled || hasGivenUp);
  if (failure !== undefined) return failFast || areAllOver ? failure : undefined;
  if (!areAllOver) return undefined;
  return failOnEmpty && projects.every(({ tracked }) => tracked.all.length === 0) ? 'empty' : 'finished';
}

export function waitResult(end: WaitEnd, projects: readonly ProjectPoller[], context: PollContext) {
  const isError = end instanceof Error;
  if (isError && !(end instanceof RequestError)) throw end;
  const verdict: Verdict = !isError ? end : end instanceof RetryAfterExceedsDeadline ? 'timeout' : 'error';
  const error = isError ? end : firstFailure(projects);
  const lists = projects.flatMap(({ idleness }) => idleness ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const hasFailed = projects.some(({ tracked }) => tracked.hasFailed);
  const isLate = verdict === 'timeout';
  const isIdle = ({ failure, tracked, idleness }: ProjectPoller) =>
    failure === undefined && !tracked.hasFailed && tracked.pending.size === 0 && idleness?.wasProven(isLate);
  const isUnresponsive = ({ id }: ProjectPoller) =>
    context.clock.now() - (context.failures.responded.get(id) ?? Number.NEGATIVE_INFINITY) > resendAfter;
  const idsOf = (some: readonly ProjectPoller[]) => some.map(({ id }) => id);
  return {
    // A failed operation stays failed, so `failed` takes precedence over `timeout` and `error`.
    verdict: verdict !== 'cancelled' && hasFailed ? 'failed' : verdict,
    operations: projects.flatMap(({ tracked }) => tracked.all),
    // `Idleness` describes the next five fields.
    failedBefore: lists.flatMap(({ failedBefore }) => [...failedBefore.values()]),
    excluded: sum(lists.map(({ ignored }) => ignored.excluded.size)),
    automatic: sum(lists.map(({ ignored }) => ignored.automatic.size)),
    cutProjects: idsOf(projects.filter(({ idleness }) => idleness?.cutAfter !== undefined)),
    cutAfter: Math.min(...lists.map(({ cutAfter = Number.POSITIVE_INFINITY }) => cutAfter)),
    /** The projects for which the step still waited at its end. */
    unsettledProjects: idsOf(projects.filter(({ isSettled }) => !isSettled)),
    /** The projects without a usable response in the last 5 s, although the final poll asks all projects. */
    unresponsiveProjects: idsOf(projects.filter(isUnresponsive)),
    /** The projects with which later steps may go on. */
    idleProjects: idsOf(projects.filter(isIdle)),
    failedId: projects.find(({ failure }) => failure !== undefined)?.failedId,
    /** The error that ended the wait, or the wait for one project. After a timeout: the last failure before the deadline. */
    cause: error ?? (isLate ? context.failures.lastFailure : undefined),
    elapsed: context.clock.now() - context.began,
  };
}
