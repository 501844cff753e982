import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { proxyProblem } from '../../http/proxy.js';
import { type RequestPolicy, withRetries } from '../../http/retry.js';
import type { WorkflowRun } from '../../keys/key-name.js';
import { mapConcurrently } from '../../keys/revocation.js';
import { withLastError } from '../../text/sentences.js';
import { DeadlineExceeded, type OnCancel } from '../../time/deadline.js';
import { type Collaborators, defaultPolicy } from '../mode.js';

/** A workflow run as GitHub shows it. */
export interface RunState {
  /** The latest attempt. Undefined if GitHub does not tell. */
  readonly attempt: number | undefined;
  readonly isCompleted: boolean;
}

/** Why a lookup failed, with the fields of a `RequestError`. */
export interface LookupFailure {
  readonly message: string;
  readonly status?: number;
  readonly transient: boolean;
  readonly retryAfterMs?: number;
}

/** The workflow runs of this repository. */
export interface WorkflowRuns {
  find(
    id: string,
    onCancel: OnCancel,
  ): Promise<{ readonly run: RunState | 'gone' } | { readonly failure: LookupFailure }>;
}

/** Loads a separate bundle: it is large, and only one mode needs it. */
export async function loadWorkflowRuns(): Promise<typeof import('./workflow-runs.js').workflowRuns> {
  const problem = proxyProblem(new URL(process.env['GITHUB_API_URL'] || 'https://api.github.com'));
  if (problem === undefined) return (await import('./workflow-runs.js')).workflowRuns;
  // octokit would ignore such a proxy, or print its password.
  const failure = { message: `GitHub was not asked because ${problem}`, transient: false };
  return () => ({ find: async () => ({ failure }) });
}

/** A run without an entry could not be looked up. */
type RunStates = ReadonlyMap<string, RunState | 'gone'>;

const maxFailures = 3;
/**
 * Milliseconds, a promise of the contract: a 404 counts only if a second request, at least this much later, gets 404
 * too.
 */
const untilSecondRequest = 1_000;

/**
 * GitHub gets one request per run, however many keys the run has. A second request checks each 404 that could lead to a
 * revocation.
 */
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

  async #findEach(ids: readonly string[]): Promise<Map<string, RunState | 'gone'>> {
    const states = new Map<string, RunState | 'gone'>();
    await mapConcurrently(ids, async (id) => {
      // Stop after one permanent or three transient failures.
      const isPermanent = (failure: RequestError) => !failure.transient || failure instanceof RetryAfterExceedsDeadline;
      if (this.failures.some(isPermanent) || this.failures.length >= maxFailures) return;
      try {
        states.set(id, await this.#find(id));
      } catch (error) {
        this.#recordFailure(error);
      }
    });
    return states;
  }

  /** A 404 for another run counts only if the token can read the current run. */
  async #canSeeOwnRun(): Promise<boolean> {
    try {
      if ((await this.#find(this.#own.id)) !== 'gone') return true;
      this.failures.push(
        new RequestError('GitHub does not show the current run to github-token', { transient: false, status: 404 }),
      );
    } catch (error) {
      this.#recordFailure(error);
    }
    return false;
  }

  #find(id: string): Promise<RunState | 'gone'> {
    return withRetries(async () => {
      const requestDeadline = this.#policy.deadline.within(this.#requestTimeout);
      const outcome = await requestDeadline
        .race((onCancel) => this.#runs.find(id, onCancel))
        .catch((error: unknown) => {
          if (!(error instanceof DeadlineExceeded) || this.#policy.deadline.isExpired) throw error;
          return { failure: { message: 'GitHub did not respond within request-timeout', transient: true } };
        });
      if ('run' in outcome) return outcome.run;
      throw new RequestError(outcome.failure.message, outcome.failure);
    }, this.#policy);
  }

  #recordFailure(error: unknown): void {
    if (error instanceof DeadlineExceeded) this.failures.push(lookupsTimedOut(error));
    else if (error instanceof RequestError) this.failures.push(error);
    else throw error;
  }
}

/** Lookups have used up their half of the time, so a retry cannot help. */
function lookupsTimedOut({ cause }: DeadlineExceeded): RequestError {
  return new RequestError(withLastError('GitHub did not respond within half of the timeout', cause), {
    transient: false,
  });
}
