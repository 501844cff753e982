import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import { exceededRetryAfter, noRetry } from '../../http/retry.js';
import type { ListCheck } from '../../keys/revocation.js';
import { type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { type CreatedKey, noteListed } from './key-register.js';
import { pauseBeforeRound } from './schedule.js';

export interface Round {
  /** Undefined if all requests of the round succeeded. */
  readonly failure: RequestError | undefined;
  /** True if another round of this phase cannot help. */
  readonly isFinal?: boolean;
}

/** Retries failed requests of the post step in rounds. A `Retry-After` in one phase also delays the later phases. */
export class Rounds {
  /** The end of the longest `Retry-After`, on the step's clock. */
  #notBefore = 0;
  #exceeded: RequestError | undefined;

  /** `deadline`: the deadline of the post step. */
  constructor(
    private readonly deadline: Deadline,
    private readonly random: () => number,
  ) {}

  get retryAfterMs(): number {
    return Math.max(0, this.#notBefore - this.deadline.clock.now());
  }

  isTooLong(error: RequestError): boolean {
    return exceededRetryAfter(error, this.deadline) !== undefined;
  }

  /** After this call, all requests wait until the `Retry-After` of the error has passed. */
  note(error: RequestError): void {
    this.#notBefore = Math.max(this.#notBefore, this.deadline.clock.now() + (error.retryAfterMs ?? 0));
    this.#exceeded ??= exceededRetryAfter(error, this.deadline);
  }

  /** Returns the failure of the last round. */
  async repeat(round: () => Promise<Round>, phase: Deadline, lastRoundBeforeEnd: number): Promise<unknown> {
    let failure: Round['failure'];
    try {
      for (let rounds = 0; ; rounds++) {
        const progress = { rounds, hasFailed: failure !== undefined, remaining: phase.remaining, lastRoundBeforeEnd };
        const pause = pauseBeforeRound({ ...progress, retryAfterMs: this.retryAfterMs }, this.random());
        if (pause === undefined) return this.#exceeded ?? failure;
        // Even a timer of 0 ms would delay the first request.
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

  /** Each check reads a new list. */
  listCheck(api: ControlApi, phase: Deadline, key: CreatedKey): ListCheck {
    return async () => {
      try {
        return noteListed(await api.keys({ deadline: phase, retry: noRetry }), key);
      } catch (error) {
        // A 423 for the list delays all keys. A 423 for a DELETE delays one key.
        if (error instanceof RequestError) this.note(error);
        throw error;
      }
    };
  }
}

export async function captureFailure(request: Promise<unknown>): Promise<RequestError | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error;
  }
}

/** A 429 or a `Retry-After` ends the round, because more requests would add to the load. */
export function endsRound({ status, retryAfterMs = 0 }: RequestError): boolean {
  return status === 429 || retryAfterMs > 0;
}

/** True if a retry cannot send the request either, for example because a proxy variable is invalid. */
function isUnsendable({ transient, mayHaveTakenEffect, status }: RequestError): boolean {
  return !transient && !mayHaveTakenEffect && status === undefined;
}
