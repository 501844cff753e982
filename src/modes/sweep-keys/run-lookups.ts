import { RequestError } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { Rate } from '../../http/rate.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import type { WorkflowRun } from '../../keys/key-name.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import type { FindRun, RunState } from './workflow-runs.js';

/** octokit is in a separate bundle, because it is large and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  if (problem === undefined) return (await import('./workflow-runs.js')).workflowRuns;
  // octokit would ignore an invalid proxy variable, or print the password that the variable contains.
  return () => async () => ({ message: `no request was sent to GitHub, because ${problem}`, transient: false });
}

/**
 * Asks GitHub once for each run, and returns the state of each that could be read, and why others could not. A run that it does
 * not know counts only if the token can read the current run.
 */
export async function findRuns(ids: readonly string[], own: WorkflowRun, find: FindRun, collaborators: Collaborators) {
  const { deadline, random } = collaborators;
  const send = withRetries(collaborators);
  // GitHub has limits of its own.
  const rate = new Rate(deadline.clock, random);
  const failures = new Set<string>();
  const states = new Map<string, RunState>();

  async function request(id: string, { patience }: Attempt): Promise<RunState> {
    const outcome = await deadline.raceFor(patience, (onCancel) => find(id, onCancel));
    const late = `GitHub did not respond within ${formatDuration(patience)}`;
    if (outcome === undefined) throw new RequestError(late, { transient: true, isSilence: true });
    if (outcome === 'gone' || 'isCompleted' in outcome) return outcome;
    throw new RequestError(outcome.message, outcome);
  }

  async function lookUp(id: string): Promise<void> {
    try {
      states.set(id, await send((attempt) => rate.run(deadline, () => request(id, attempt))));
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof DeadlineExceeded)) throw error;
      failures.add(error.message);
    }
  }

  const others = ids.filter((id) => id !== own.id);
  if (others.length > 0) await lookUp(own.id);
  if (states.get(own.id) === 'gone') failures.add('GitHub does not show the current run');
  if (failures.size === 0) await Promise.all(others.map(lookUp));
  return { states: states.set(own.id, { attempt: own.attempt, isCompleted: false }), failures };
}
