import type { LookupFailure, RunState, WorkflowRuns } from '../../src/modes/sweep-keys/run-lookups.js';

/**
 * What GitHub says of a run: what is so, or why it cannot be seen; `silent`: it never answers. `foundAfter`: so many answers are a
 * 404 by mistake. `hiddenAfter`: of this very run; so many answers later the token may see no run any more.
 */
export type Known =
  | { readonly run: RunState | 'gone'; readonly hiddenAfter?: number }
  | { readonly foundAfter: number; readonly later: RunState }
  | { readonly unseen: LookupFailure; readonly times: number; readonly later: RunState | 'gone' }
  | { readonly silent: true };

/** The runs of the repository as the token may see them; a run that nobody knows is gone. */
export function virtualGitHub(
  runs: ReadonlyMap<string, Known>,
  ownRun: string,
  sleep: (ms: number) => Promise<void>,
  noted: (id: string, said: string) => void,
): WorkflowRuns {
  const asked = new Map<string, number>();
  // Who may not see the runs of a repository is told that there are none.
  const own = runs.get(ownRun);
  const hiddenAfter = own === undefined || !('run' in own) ? undefined : own.run === 'gone' ? 0 : own.hiddenAfter;
  let answers = 0;
  return {
    async find(id) {
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      const isHidden = answers++ >= (hiddenAfter ?? Number.POSITIVE_INFINITY);
      const known: Known = isHidden ? { run: 'gone' } : (runs.get(id) ?? { run: 'gone' });
      await sleep(40);
      if ('silent' in known) return new Promise(() => undefined);
      const answer = answerOf(known, times);
      noted(id, JSON.stringify(answer));
      return answer;
    },
  };
}

function answerOf(known: Exclude<Known, { silent: true }>, times: number): Awaited<ReturnType<WorkflowRuns['find']>> {
  if ('run' in known) return { run: known.run };
  if ('foundAfter' in known) return { run: times <= known.foundAfter ? 'gone' : known.later };
  return times <= known.times ? { failure: known.unseen } : { run: known.later };
}
