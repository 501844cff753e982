import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { Rate } from '../../http/rate.js';
import { type Attempt, type Send, withRetries } from '../../http/retry.js';
import type { KeyOrigin, WorkflowRun } from '../../keys/key-name.js';
import { withLastError } from '../../text/sentences.js';
import { type Deadline, DeadlineExceeded } from '../../time/deadline.js';
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

const maxFailures = 3;
/** GitHub may not find a new run yet. So a 404 is trusted only for keys older than this. The contract promises this age. */
export const minAgeForNotFound = 3_600_000;
/** The time between the first and the second request for a run that GitHub does not find. The contract promises this time. */
const untilSecondRequestMs = 1_000;

/** `age`: milliseconds on the service's clock, NaN without a creation time. */
export type AgedKey = KeyOrigin & { readonly age: number };

/** Sends GitHub one request per run, and a second request for each 404 that could lead to a revocation. */
export class RunLookups {
  readonly failures: RequestError[] = [];
  readonly #deadline: Deadline;
  readonly #send: Send;
  /** GitHub has limits of its own. */
  readonly #rate: Rate;

  constructor(
    private readonly own: WorkflowRun,
    private readonly findRun: FindRun,
    collaborators: Collaborators,
  ) {
    // The lookups get half of the remaining time. The other half is for the revocations.
    const { deadline, random } = collaborators;
    this.#deadline = deadline.within(deadline.remaining / 2);
    this.#send = withRetries({ ...collaborators, deadline: this.#deadline });
    this.#rate = new Rate(deadline.clock, random);
  }

  /** Returns the states of the runs of the keys. A failed lookup leaves no entry. */
  async find(keys: readonly AgedKey[]): Promise<ReadonlyMap<string, RunState>> {
    const own = { attempt: this.own.attempt, isCompleted: false };
    const others = [...new Set(keys.map(({ run }) => run.id))].filter((id) => id !== this.own.id);
    const old = new Set(keys.filter(({ age }) => age > minAgeForNotFound).map(({ run }) => run.id));
    if (others.length === 0 || !(await this.#canSeeOwnRun())) return new Map([[this.own.id, own]]);
    const first = await this.#findEach(others);
    const doubtful = others.filter((id) => first.get(id) === 'gone' && old.has(id));
    for (const id of doubtful) first.delete(id);
    return new Map([[this.own.id, own], ...first, ...(await this.#confirmNotFound(doubtful))]);
  }

  /** Requests each run again, because GitHub sometimes responds with 404 by mistake. */
  async #confirmNotFound(ids: readonly string[]): Promise<ReadonlyMap<string, RunState>> {
    if (ids.length === 0) return new Map();
    const deadline = this.#deadline;
    if (deadline.remaining <= untilSecondRequestMs) {
      this.#fail('no time was left for a second lookup of the runs that GitHub did not find');
      return new Map();
    }
    await deadline.sleep(untilSecondRequestMs);
    const states = await this.#findEach(ids);
    const isBelieved = ![...states.values()].includes('gone') || (await this.#canSeeOwnRun());
    return new Map([...states].filter(([, state]) => state !== 'gone' || isBelieved));
  }

  async #findEach(ids: readonly string[]): Promise<Map<string, RunState>> {
    const states = new Map<string, RunState>();
    const find = async (id: string) => {
      const state = await this.#lookUp(id);
      if (state !== undefined) states.set(id, state);
    };
    await Promise.all(ids.map(find));
    return states;
  }

  /** A 404 for another run is trusted only if the token can read the current run. */
  async #canSeeOwnRun(): Promise<boolean> {
    const state = await this.#lookUp(this.own.id);
    if (state === 'gone') this.#fail('github-token cannot read the current run');
    return state !== undefined && state !== 'gone';
  }

  async #lookUp(id: string): Promise<RunState | undefined> {
    try {
      return await this.#send((attempt) => this.#rate.run(attempt.deadline, () => this.#request(id, attempt)));
    } catch (error) {
      if (error instanceof RequestError) this.failures.push(error);
      else if (!(error instanceof DeadlineExceeded)) throw error;
      else this.#fail(withLastError("GitHub did not respond within half of the step's timeout", error.cause));
      return undefined;
    }
  }

  /** Ends all lookups, because no retry can help. */
  #fail(message: string): void {
    this.failures.push(new RequestError(message, { transient: false }));
  }

  async #request(id: string, { deadline, patience }: Attempt): Promise<RunState> {
    // More requests cannot help.
    const final = this.failures.find((one) => !one.transient || one instanceof RetryAfterExceedsDeadline);
    const enough = final ?? (this.failures.length >= maxFailures ? this.failures[0] : undefined);
    if (enough !== undefined) throw new RequestError(enough.message, { transient: false });
    const outcome = await deadline.raceFor(patience, (onCancel) => this.findRun(id, onCancel));
    if (outcome === undefined)
      throw new RequestError(`GitHub did not respond within ${formatDuration(patience)}`, {
        transient: true,
        isSilence: true,
      });
    if ('run' in outcome) return outcome.run;
    throw new RequestError(outcome.failure.message, outcome.failure);
  }
}
