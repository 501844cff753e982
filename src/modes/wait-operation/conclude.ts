import { UserError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';
import type { Project } from './project.js';
import type { WaitSettings } from './settings.js';

type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';
export type WaitResult = ReturnType<typeof conclude>;

export function conclude(projects: Project[], settings: WaitSettings, deadline: Deadline, isCancelled: boolean) {
  const { target, failOnEmpty, pollsOnce } = settings;
  const { error: filterError, warnings: filterWarnings = [] } = 'all' in target ? target.all.missing : {};
  const operations = projects.flatMap(({ id: projectId, operations: { all } }) =>
    [...all.values()].map((operation) => ({ ...operation, projectId })),
  );
  const badFilter = filterError === undefined ? undefined : new UserError(filterError);
  /** What ended the wait as `error`. */
  const [failedId, failure = badFilter] = projects.flatMap(({ failures }) => [...failures])[0] ?? [];

  /** The only place that says `finished`. `failed` outranks `timeout`, and that `error`. */
  function verdict(): Verdict {
    if (isCancelled) return 'cancelled';
    if (projects.some(({ operations }) => operations.hasFailed)) return 'failed';
    if (projects.every(({ isSettled }) => isSettled)) {
      if (badFilter !== undefined) return 'error';
      return failOnEmpty && operations.length === 0 ? 'empty' : 'finished';
    }
    const isLate = ({ isDone, isSettled, failures }: Project) =>
      pollsOnce ? failures.size === 0 && !isSettled : deadline.isExpired && !isDone;
    return failure !== undefined && !projects.some(isLate) ? 'error' : 'timeout';
  }

  const isIdle = ({ isSettled, operations }: Project) => isSettled && !operations.hasFailed && badFilter === undefined;
  return {
    verdict: verdict(),
    projects,
    operations,
    idleProjects: projects.filter(isIdle).map(({ id }) => id),
    filterWarnings,
    failure,
    failedId,
    elapsed: deadline.clock.now(),
  };
}
