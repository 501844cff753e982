import { RequestError } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { Rate } from '../../http/rate.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import type { WorkflowRun } from '../../keys/key-name.js';
import { withLastError } from '../../text/sentences.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import type { FindRun, RunState } from './workflow-runs.js';

/** octokit is in a separate bundle, because it is large and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  if (problem === undefined) return (await import('./workflow-runs.js')).workflowRuns;
  // octokit would ignore an invalid proxy variable, or print the password that the variable contains.
  const failure = { message: `no request was sent to GitHub, because ${problem}`, transient: false };
  return () => async () => ({ failure });
}

/** After so many failures, no more runs are asked for. */
const maxFailures = 3;

/**
 * Asks GitHub once for each run, and returns the state of each that could be read, and why others could not. A run that it does
 * not know counts only if the token can read the current run.
 */
export async function findRuns(ids: readonly string[], own: WorkflowRun, find: FindRun, collaborators: Collaborators) {
  // The lookups get half of the remaining time. The other half is for the revocations.
  const deadline = collaborators.deadline.within(collaborators.deadline.remaining / 2);
  const send = withRetries({ ...collaborators, deadline });
  // GitHub has limits of its own.
  const rate = new Rate(deadline.clock, collaborators.random);
  const failures: RequestError[] = [];
  const states = new Map<string, RunState>([[own.id, { attempt: own.attempt, isCompleted: false }]]);

  async function request(id: string, { patience }: Attempt): Promise<RunState> {
    const [first] = failures;
    if (first && failures.length >= maxFailures) throw new RequestError(first.message, { transient: false });
    const outcome = await deadline.raceFor(patience, (onCancel) => find(id, onCancel));
    const late = `GitHub did not respond within ${formatDuration(patience)}`;
    if (outcome === undefined) throw new RequestError(late, { transient: true, isSilence: true });
    if ('run' in outcome) return outcome.run;
    throw new RequestError(outcome.failure.message, outcome.failure);
  }

  async function lookUp(id: string): Promise<RunState | undefined> {
    try {
      return await send((attempt) => rate.run(attempt.deadline, () => request(id, attempt)));
    } catch (error) {
      const late = "GitHub did not respond within half of the step's timeout";
      if (error instanceof RequestError) failures.push(error);
      else if (!(error instanceof DeadlineExceeded)) throw error;
      else failures.push(new RequestError(withLastError(late, error.cause), { transient: false }));
      return undefined;
    }
  }

  const others = ids.filter((id) => id !== own.id);
  if (others.length === 0) return { states, failures };
  const current = await lookUp(own.id);
  if (current === 'gone') failures.push(new RequestError('GitHub does not show the current run', { transient: false }));
  if (current === undefined || current === 'gone') return { states, failures };
  const found = await Promise.all(others.map(async (id) => [id, await lookUp(id)] as const));
  for (const [id, state] of found) if (state !== undefined) states.set(id, state);
  return { states, failures };
}
