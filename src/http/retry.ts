import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { beyondDeadline, RequestError } from './errors.js';

export interface Attempt {
  /** No response is awaited after this. */
  readonly deadline: Deadline;
  /** The request may wait for its turn until this. Default: `deadline`. */
  readonly sendBy?: Deadline;
  /** An exchange without its whole response for this long is given up. In milliseconds. */
  readonly patience: number;
  /** Called when the turn of the request has come. Before that, it cannot have taken effect. */
  readonly onSend?: () => void;
  /** Gets the body of any response before anything can print it. */
  readonly onBody?: (body: string) => void;
}

/** Sends a request: once, or again until it succeeds. */
export type Send = <T>(attempt: (how: Attempt) => Promise<T>) => Promise<T>;

export const usualPatience = 30_000;
const maxAttempts = 5;
/** The last attempt begins at most this long after the first one, unless the service asks to retry later. */
const maxSpan = 60_000;
/** A replica may not know a new key yet. */
const unauthorizedSpan = 10_000;
/** The longest pause is 1 s after the first failure, and doubles up to `maxPause`. */
const firstPause = 1_000;
const maxPause = 8_000;

export function isTransientStatus(status: number): boolean {
  return [408, 423, 425, 429, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 530);
}

type Circumstances = { deadline: Deadline; random: () => number; log: { info(line: string): void } };

/** Repeats a failed request, with full jitter. Modes that wait do not use this: their next poll asks again. */
export function withRetries({ deadline, random, log }: Circumstances): Send {
  return async (attempt) => {
    const { clock } = deadline;
    const beganAt = clock.now();
    let patience = usualPatience;
    let failures = 0;
    let lasting = 0;
    let pause: number | undefined = 0;
    let lastError: RequestError | undefined;

    /** Returns undefined if the request must not be repeated. */
    function pauseAfter(error: RequestError): number | undefined {
      const { retryAfterMs = 0, status, transient } = error;
      const isUnauthorized = error.isServiceStatus(401);
      if (!transient && !isUnauthorized) return undefined;
      if (retryAfterMs > deadline.remaining) throw beyondDeadline(error, deadline.remaining);
      // After a 429, `Rate` holds all requests.
      if (status === 429) return 0;
      const isLasting = error.isThrottled || transient === 'until-deadline';
      const count = isLasting ? ++lasting : ++failures;
      const backoff = random() * Math.min(maxPause, firstPause * 2 ** (count - 1));
      const usual = Math.max(retryAfterMs, backoff);
      const age = clock.now() - beganAt;
      if (isLasting) return usual;
      if (isUnauthorized) return age < unauthorizedSpan ? Math.min(usual, unauthorizedSpan - age) : undefined;
      return failures < maxAttempts && age + usual <= maxSpan ? usual : undefined;
    }

    for (;;) {
      try {
        if (pause > 0) await deadline.sleep(pause);
        return await attempt({ deadline, patience });
      } catch (error) {
        if (error instanceof DeadlineExceeded) throw new DeadlineExceeded(lastError);
        if (!(error instanceof RequestError)) throw error;
        pause = pauseAfter(error);
        if (pause === undefined) throw error;
        lastError = error;
        if (error.isSilence) patience *= 2;
        log.info(`${error.message}. Retrying${pause === 0 ? '' : ` in ${formatDuration(pause)}`}.`);
      }
    }
  };
}
