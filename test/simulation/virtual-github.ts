import type { RunSeen, Unseen, WorkflowRuns } from '../../src/modes/sweep-keys.js';

/** What GitHub says of a run: what is so, or why it cannot be seen; `silent`: it never answers. */
export type Known =
  | { readonly run: RunSeen | 'gone' }
  | { readonly unseen: Unseen; readonly times: number; readonly later: RunSeen | 'gone' }
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
  const isHidden = own !== undefined && 'run' in own && own.run === 'gone';
  return {
    async look(id) {
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      const known = isHidden ? own : (runs.get(id) ?? { run: 'gone' });
      await sleep(40);
      if ('silent' in known) return new Promise(() => undefined);
      const answer =
        'run' in known ? { run: known.run } : times <= known.times ? { unseen: known.unseen } : { run: known.later };
      noted(id, JSON.stringify(answer));
      return answer;
    },
  };
}
