import type { RunSeen, Unseen, WorkflowRuns } from '../../src/modes/sweep-keys.js';

/** What GitHub says of a run: what is so, or why it cannot be seen; `silent`: it never answers. */
export type Known =
  | { readonly run: RunSeen | 'gone' }
  | { readonly unseen: Unseen; readonly times: number; readonly later: RunSeen | 'gone' }
  | { readonly silent: true };

/** The runs of the repository as the token may see them; a run that nobody knows is gone. */
export function virtualGitHub(
  runs: ReadonlyMap<string, Known>,
  sleep: (ms: number) => Promise<void>,
  noted: (id: string, said: string) => void,
): WorkflowRuns {
  const asked = new Map<string, number>();
  return {
    async look(id) {
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      const known = runs.get(id) ?? { run: 'gone' };
      await sleep(40);
      if ('silent' in known) return new Promise(() => undefined);
      const answer =
        'run' in known ? { run: known.run } : times <= known.times ? { unseen: known.unseen } : { run: known.later };
      noted(id, JSON.stringify(answer));
      return answer;
    },
  };
}
