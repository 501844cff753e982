import type { Operation } from '../../api/records.js';
import type { RequestError } from '../../http/errors.js';
import type { ProjectPoller } from './project-poller.js';
import type { TrackedOperation } from './tracked-operations.js';
import type { WaitSettings } from './waiter.js';

export type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';

export interface WaitResult {
  readonly verdict: Verdict;
  readonly operations: readonly TrackedOperation[];
  // `ListReader` describes the following three fields.
  readonly failedBefore: readonly Operation[];
  readonly excludedCount: number;
  readonly automaticCount: number;
  /** Ids of the projects without a usable response. */
  readonly unresponsiveProjects: readonly string[];
  /** The error that ended the wait. After a timeout: the last failure before the deadline. */
  readonly cause: RequestError | undefined;
  /** In milliseconds. */
  readonly elapsed: number;
}

/** Returns a verdict only if no later response can change it. Only this function lets a wait succeed. */
export function settledVerdict(
  projects: readonly ProjectPoller[],
  { failFast, failOnEmpty }: WaitSettings,
): 'finished' | 'empty' | 'failed' | undefined {
  const hasFailed = hasFailedOperation(projects);
  if (hasFailed && failFast) return 'failed';
  if (!projects.every(({ isSettled }) => isSettled)) return undefined;
  if (hasFailed) return 'failed';
  return failOnEmpty && projects.every(({ tracked }) => tracked.isEmpty) ? 'empty' : 'finished';
}

export function createWaitResult(
  verdict: Verdict,
  projects: readonly ProjectPoller[],
  others: Pick<WaitResult, 'unresponsiveProjects' | 'cause' | 'elapsed'>,
): WaitResult {
  return {
    // A failed operation stays failed, so `failed` takes precedence over `timeout` and `error`.
    verdict: verdict !== 'cancelled' && hasFailedOperation(projects) ? 'failed' : verdict,
    operations: projects.flatMap(({ tracked }) => tracked.all),
    failedBefore: projects.flatMap(({ list }) => [...list.failedBefore.values()]),
    excludedCount: projects.reduce((sum, { list }) => sum + list.excludedCount, 0),
    automaticCount: projects.reduce((sum, { list }) => sum + list.automaticCount, 0),
    ...others,
  };
}

function hasFailedOperation(projects: readonly ProjectPoller[]): boolean {
  return projects.some(({ tracked }) => tracked.hasFailed);
}
