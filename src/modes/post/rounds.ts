import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import { exceededRetryAfter, noRetry } from '../../http/retry.js';
import { includesKey, type ListCheck } from '../../keys/revocation.js';
import { type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { pauseBeforeRound } from './schedule.js';

/** What one round of requests has left to do. */
export interface Round {
  /** Undefined if the round did all of its work. */
  readonly failure: RequestError | undefined;
  /** True if another round of this phase cannot help. */
  readonly isFinal?: boolean;
}

/** Repeats the requests of post. A `Retry-After` holds for all phases. */
export class Rounds {
  readonly #deadline: Deadline;
  readonly #random: () => number;
  /** On the step's clock. */
  #notBefore = 0;
  #exceeded: RequestError | undefined;

  /** `deadline`: of the whole post step. */
  constructor(deadline: Deadline, random: () => number) {
    this.#deadline = deadline;
    this.#random = random;
  }

  /** Milliseconds for which the service asks to send nothing. */
  get retryAfterMs(): number {
    return Math.max(0, this.#notBefore - this.#deadline.clock.now());
  }

  /** True if the service asks to wait until post is over. */
  isTooLong(error: RequestError): boolean {
    return exceededRetryAfter(error, this.#deadline) !== undefined;
  }

  /** Notes how long all requests have to wait after a failed one. */
  note(error: RequestError): void {
    this.#notBefore = Math.max(this.#notBefore, this.#deadline.clock.now() + (error.retryAfterMs ?? 0));
    this.#exceeded ??= exceededRetryAfter(error, this.#deadline);
  }

  /** Repeats a round until the schedule or the end of the phase. Returns the failure of the last round. */
  async repeat(round: () => Promise<Round>, phase: Deadline, lastRoundBeforeEnd: number): Promise<unknown> {
    let failure: Round['failure'];
    try {
      for (let rounds = 0; ; rounds++) {
        const progress = { rounds, hasFailed: failure !== undefined, remaining: phase.remaining, lastRoundBeforeEnd };
        const pause = pauseBeforeRound({ ...progress, retryAfterMs: this.retryAfterMs }, this.#random());
        if (pause === undefined) return this.#exceeded ?? failure;
        // The first request does not wait for a timer.
        if (pause > 0) await phase.sleep(pause);
        const result = await round();
        failure = result.failure;
        if (result.isFinal || (failure !== undefined && isUnsendable(failure))) return failure;
      }
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      return failure ?? error;
    }
  }

  /** Reads the list anew for each check. */
  listCheck(api: ControlApi, phase: Deadline): ListCheck {
    return async (key) => {
      try {
        return includesKey(await api.keys({ deadline: phase, retry: noRetry }), key);
      } catch (error) {
        // A 423 for the list concerns all keys. It is no lock on this one.
        if (error instanceof RequestError) this.note(error);
        throw error;
      }
    };
  }
}

/** The failure of a request as a value. */
export async function captureFailure(request: Promise<unknown>): Promise<RequestError | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error;
  }
}

/** After a 429 or a `Retry-After` the round ends: more requests would only add to the load. */
export function endsRound({ status, retryAfterMs = 0 }: RequestError): boolean {
  return status === 429 || retryAfterMs > 0;
}

/** This request can never be sent, for example because a proxy variable is invalid. */
function isUnsendable({ transient, mayHaveTakenEffect, status }: RequestError): boolean {
  return !transient && !mayHaveTakenEffect && status === undefined;
}
