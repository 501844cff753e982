import { RequestError } from '../http/errors.js';
import type { Send } from '../http/retry.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { Cooldown } from './cooldown.js';
import { pauseBeforeRound, requestTimeout } from './schedule.js';

export interface Round {
  /** Undefined if all requests of the round succeeded. */
  readonly failure: RequestError | undefined;
  /** True if another round of this phase cannot help. */
  readonly isFinal?: boolean;
}

/** The failure of the last round. Undefined if that round succeeded. */
export type PhaseFailure = RequestError | DeadlineExceeded | undefined;

/** Retries failed requests of the post step in rounds. A `Retry-After` in one phase also delays the later phases. */
export class Rounds {
  readonly cooldown: Cooldown;

  /** `deadline`: the deadline of the post step. */
  constructor(
    readonly deadline: Deadline,
    private readonly random: () => number,
  ) {
    this.cooldown = new Cooldown(deadline.clock);
  }

  /** Reads a list of keys once. A 423 for the list delays all keys. A 423 for a DELETE delays one key. */
  readList(phase: Deadline): Send {
    return async (attempt) => {
      await this.cooldown.wait(phase);
      try {
        return await attempt({ deadline: phase, patience: requestTimeout });
      } catch (error) {
        if (error instanceof RequestError) this.cooldown.note(error);
        throw error;
      }
    };
  }

  async repeat(round: () => Promise<Round>, phase: Deadline, lastRoundBeforeEnd: number): Promise<PhaseFailure> {
    let failure: Round['failure'];
    try {
      for (let rounds = 0; ; rounds++) {
        const [remaining, retryAfterMs] = [phase.remaining, this.cooldown.remaining];
        const progress = { rounds, hasFailed: failure !== undefined, remaining, retryAfterMs, lastRoundBeforeEnd };
        const pause = pauseBeforeRound(progress, this.random());
        if (pause === undefined) return this.cooldown.exceeded(this.deadline) ?? failure;
        // Even a timer of 0 ms would delay the first request.
        if (pause > 0) await phase.sleep(pause);
        const result = await round();
        failure = result.failure;
        // If a request cannot be sent, no retry can help. For example, the proxy variable is invalid.
        const isUnsendable =
          failure?.transient === false && !failure.mayHaveTakenEffect && failure.status === undefined;
        if (result.isFinal || isUnsendable) return failure;
      }
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      return failure ?? error;
    }
  }
}

export function captureFailure(request: Promise<unknown>): Promise<RequestError | undefined> {
  return request.then(() => undefined, expectRequestError);
}

export function expectRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  throw error;
}

/** A 429 or a `Retry-After` ends the round, because more requests would add to the load. */
export function endsRound({ status, retryAfterMs = 0 }: RequestError): boolean {
  return status === 429 || retryAfterMs > 0;
}
