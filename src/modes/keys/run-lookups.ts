import { ApiError, AskedToWaitTooLong } from '../../http/errors.js';
import { type Manner, withRetries } from '../../http/retry.js';
import { type OnStop, TimeUp } from '../../time/limit.js';
import type { Collaborators } from '../collaborators.js';
import { fewAtATime } from '../few-at-a-time.js';
import { patiently } from '../patience.js';
import type { Run } from './key-name.js';

/** A workflow run as GitHub shows it. */
export interface RunSeen {
  /** The latest attempt. Undefined if GitHub does not tell. */
  readonly attempt: number | undefined;
  readonly isCompleted: boolean;
}

/** Why a lookup failed, with the fields of a `RequestError`. */
export interface Unseen {
  readonly message: string;
  readonly status?: number;
  readonly transient: boolean;
  readonly retryAfter?: number;
}

/** The workflow runs of this repository. */
export interface WorkflowRuns {
  look(id: string, onStop: OnStop): Promise<{ readonly run: RunSeen | 'gone' } | { readonly unseen: Unseen }>;
}

/** A run without an entry could not be looked up. */
export type RunStates = ReadonlyMap<string, RunSeen | 'gone'>;

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
  readonly failures: ApiError[] = [];
  readonly #own: Run;
  readonly #requestTimeout: number;
  readonly #runs: WorkflowRuns;
  readonly #manner: Manner;

  constructor(own: Run, requestTimeout: number, runs: WorkflowRuns, collaborators: Collaborators) {
    this.#own = own;
    this.#requestTimeout = requestTimeout;
    this.#runs = runs;
    // The other half of the time is for revoking keys.
    const { limit } = collaborators;
    this.#manner = patiently({ ...collaborators, limit: limit.within(limit.left / 2) });
  }

  /** `old`: runs whose keys are old enough for a confirmed 404 to count. */
  async find(ids: ReadonlySet<string>, old: ReadonlySet<string>): Promise<RunStates> {
    const own = { attempt: this.#own.attempt, isCompleted: false };
    const others = [...ids].filter((id) => id !== this.#own.id);
    if (others.length === 0 || !(await this.#seesOwnRun())) return new Map([[this.#own.id, own]]);
    const first = await this.#lookAtEach(others);
    const doubtful = others.filter((id) => first.get(id) === 'gone' && old.has(id));
    for (const id of doubtful) first.delete(id);
    return new Map([[this.#own.id, own], ...first, ...(await this.#lookAgain(doubtful))]);
  }

  /** GitHub also answers 404 if the token may not read the run, and sometimes by mistake. */
  async #lookAgain(ids: readonly string[]): Promise<RunStates> {
    if (ids.length === 0) return new Map();
    const { limit } = this.#manner;
    if (limit.left <= untilSecondRequest) {
      const message = 'There is no time left to ask GitHub once more for the runs that it did not find';
      this.failures.push(new ApiError(message, { transient: false }));
      return new Map();
    }
    await limit.sleep(untilSecondRequest);
    const states = await this.#lookAtEach(ids);
    const isBelieved = ![...states.values()].includes('gone') || (await this.#seesOwnRun());
    return new Map([...states].filter(([, state]) => state !== 'gone' || isBelieved));
  }

  async #lookAtEach(ids: readonly string[]): Promise<Map<string, RunSeen | 'gone'>> {
    const states = new Map<string, RunSeen | 'gone'>();
    await fewAtATime(ids, async (id) => {
      // Stop after one permanent or three transient failures.
      const isPermanent = (failure: ApiError) => !failure.transient || failure instanceof AskedToWaitTooLong;
      if (this.failures.some(isPermanent) || this.failures.length >= maxFailures) return;
      try {
        states.set(id, await this.#look(id));
      } catch (error) {
        this.#note(error);
      }
    });
    return states;
  }

  /** A 404 for another run counts only if the token can read the current run. */
  async #seesOwnRun(): Promise<boolean> {
    try {
      if ((await this.#look(this.#own.id)) !== 'gone') return true;
      this.failures.push(
        new ApiError('GitHub does not show this very run to github-token', { transient: false, status: 404 }),
      );
    } catch (error) {
      this.#note(error);
    }
    return false;
  }

  #look(id: string): Promise<RunSeen | 'gone'> {
    return withRetries(async () => {
      const own = this.#manner.limit.within(this.#requestTimeout);
      const answer = await own
        .run((onStop) => this.#runs.look(id, onStop))
        .catch((error: unknown) => {
          if (!(error instanceof TimeUp) || this.#manner.limit.struck) throw error;
          return { unseen: { message: 'GitHub did not answer in time', transient: true } };
        });
      if ('run' in answer) return answer.run;
      throw new ApiError(answer.unseen.message, answer.unseen);
    }, this.#manner);
  }

  #note(error: unknown): void {
    if (error instanceof TimeUp) this.failures.push(tooSlow(error));
    else if (error instanceof ApiError) this.failures.push(error);
    else throw error;
  }
}

/** Lookups have used up their half of the time, so a retry cannot help. */
function tooSlow({ cause }: TimeUp): ApiError {
  const met = cause instanceof ApiError ? `; met last: ${cause.message}` : '';
  return new ApiError(`GitHub did not answer in half of the time${met}`, { transient: false });
}
