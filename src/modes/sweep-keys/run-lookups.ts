import { RequestError, type RequestErrorOptions, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { type RequestPolicy, withRetries } from '../../http/retry.js';
import type { WorkflowRun } from '../../keys/key-name.js';
import { mapConcurrently } from '../../keys/revocation.js';
import { withLastError } from '../../text/sentences.js';
import { DeadlineExceeded, type OnCancel } from '../../time/deadline.js';
import { type Collaborators, defaultPolicy } from '../mode.js';

/** A workflow run as GitHub shows it, or that it does not find the run. */
export type RunState =
  | {
      /** The latest attempt. Undefined if GitHub does not tell. */
      readonly attempt: number | undefined;
      readonly isCompleted: boolean;
    }
  | 'gone';

/** Why a lookup failed. */
export interface LookupFailure extends RequestErrorOptions {
  readonly message: string;
}

export type LookupOutcome = { readonly run: RunState } | { readonly failure: LookupFailure };

/** The workflow runs of this repository. */
export interface WorkflowRuns {
  find(id: string, onCancel: OnCancel): Promise<LookupOutcome>;
}

/** Loads a separate bundle: it is large, and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  if (problem === undefined) return (await import('./workflow-runs.js')).workflowRuns;
  // octokit would ignore such a proxy, or print its password.
  const failure = { message: `no request was sent to GitHub, because ${problem}`, transient: false };
  return () => ({ find: async () => ({ failure }) });
}

/** A run without an entry could not be looked up. */
type RunStates = ReadonlyMap<string, RunState>;

const maxFailures = 3;
/** Milliseconds between two requests that must both get 404: a promise of the contract. */
const untilSecondRequest = 1_000;

/** GitHub gets one request per run, and a second one for each 404 that could lead to a revocation. */
export class RunLookups {
  readonly failures: RequestError[] = [];
  readonly #own: WorkflowRun;
  readonly #requestTimeout: number;
  readonly #runs: WorkflowRuns;
  readonly #policy: RequestPolicy;

  constructor(own: WorkflowRun, requestTimeout: number, runs: WorkflowRuns, collaborators: Collaborators) {
    this.#own = own;
    this.#requestTimeout = requestTimeout;
    this.#runs = runs;
    // The other half of the time is for revoking keys.
    const { deadline } = collaborators;
    this.#policy = defaultPolicy({ ...collaborators, deadline: deadline.within(deadline.remaining / 2) });
  }

  /** `old`: runs whose keys are old enough for a confirmed 404 to count. */
  async find(ids: ReadonlySet<string>, old: ReadonlySet<string>): Promise<RunStates> {
    const own = { attempt: this.#own.attempt, isCompleted: false };
    const others = [...ids].filter((id) => id !== this.#own.id);
    if (others.length === 0 || !(await this.#canSeeOwnRun())) return new Map([[this.#own.id, own]]);
    const first = await this.#findEach(others);
    const doubtful = others.filter((id) => first.get(id) === 'gone' && old.has(id));
    for (const id of doubtful) first.delete(id);
    return new Map([[this.#own.id, own], ...first, ...(await this.#confirmNotFound(doubtful))]);
  }

  /** GitHub also answers 404 if the token may not read the run, and sometimes by mistake. */
  async #confirmNotFound(ids: readonly string[]): Promise<RunStates> {
    if (ids.length === 0) return new Map();
    const { deadline } = this.#policy;
    if (deadline.remaining <= untilSecondRequest) {
      const message = 'no time was left for a second request to GitHub about runs that it did not find';
      this.failures.push(new RequestError(message, { transient: false }));
      return new Map();
    }
    await deadline.sleep(untilSecondRequest);
    const states = await this.#findEach(ids);
    const isBelieved = ![...states.values()].includes('gone') || (await this.#canSeeOwnRun());
    return new Map([...states].filter(([, state]) => state !== 'gone' || isBelieved));
  }

  async #findEach(ids: readonly string[]): Promise<Map<string, RunState>> {
    const states = new Map<string, RunState>();
    await mapConcurrently(ids, async (id) => {
      // Stop after one permanent or three transient failures.
      const isPermanent = (failure: RequestError) => !failure.transient || failure instanceof RetryAfterExceedsDeadline;
      if (this.failures.some(isPermanent) || this.failures.length >= maxFailures) return;
      const state = await this.#lookUp(id);
      if (state !== undefined) states.set(id, state);
    });
    return states;
  }

  /** A 404 for another run counts only if the token can read the current run. */
  async #canSeeOwnRun(): Promise<boolean> {
    const state = await this.#lookUp(this.#own.id);
    if (state === 'gone') {
      const message = 'GitHub does not show the current run to github-token';
      this.failures.push(new RequestError(message, { transient: false, status: 404 }));
    }
    return state !== undefined && state !== 'gone';
  }

  /** Records a failure, and then returns undefined. */
  async #lookUp(id: string): Promise<RunState | undefined> {
    try {
      return await withRetries(() => this.#request(id), this.#policy);
    } catch (error) {
      if (error instanceof RequestError) {
        this.failures.push(error);
      } else if (error instanceof DeadlineExceeded) {
        // Lookups have used up their half of the time, so a retry cannot help.
        const message = withLastError('GitHub did not respond within half of the timeout', error.cause);
        this.failures.push(new RequestError(message, { transient: false }));
      } else {
        throw error;
      }
      return undefined;
    }
  }

  async #request(id: string): Promise<RunState> {
    const { deadline } = this.#policy;
    try {
      const requestDeadline = deadline.within(this.#requestTimeout);
      const outcome = await requestDeadline.race((onCancel) => this.#runs.find(id, onCancel));
      if ('run' in outcome) return outcome.run;
      throw new RequestError(outcome.failure.message, outcome.failure);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded) || deadline.isExpired) throw error;
      throw new RequestError('GitHub did not respond within request-timeout', { transient: true });
    }
  }
}
