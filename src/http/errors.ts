import { formatDuration } from '../time/duration.js';

/** A failed request to the control API or to GitHub. Without a `status`, no complete response arrived. The message is for users. */
export class RequestError extends Error {
  /** Undefined if no complete response arrived. */
  readonly status: number | undefined;
  /** True if some retries may help. `until-deadline`: they may help at any time before the deadline. */
  readonly transient: boolean | 'until-deadline' = true;
  readonly retryAfterMs: number | undefined;
  /** The service may have carried out the request despite the error. */
  readonly mayHaveTakenEffect: boolean = true;
  /** A proxy may have sent an HTML page, so it proves nothing about the service. */
  readonly isPage: boolean = false;
  /** No whole response arrived in time. */
  readonly isSilence: boolean = false;

  constructor(message: string, { cause, ...facts }: RequestErrorOptions = {}) {
    super(message, { cause });
    Object.assign(this, facts);
  }

  /** The service asks to retry later. Outside of waits, such a request is repeated until the deadline. */
  get isThrottled(): boolean {
    return this.status === 423 || this.status === 429 || this.isServiceStatus(425);
  }

  isServiceStatus(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** A 4xx that a retry cannot change. Of HTML pages, only a proxy's 407. */
  get isPermanent(): boolean {
    const { status = 0, transient, isThrottled } = this;
    return status >= 400 && status < 500 && !transient && !isThrottled;
  }
}

export type RequestErrorOptions = ErrorOptions &
  Partial<Pick<RequestError, 'status' | 'transient' | 'retryAfterMs' | 'mayHaveTakenEffect' | 'isPage' | 'isSilence'>>;

/** The same error, but final: its `Retry-After` ends after the deadline. */
export function beyondDeadline(error: RequestError, remaining: number): RequestError {
  const asked = formatDuration(error.retryAfterMs ?? 0);
  const message = `${error.message}. The response asks to wait ${asked}, but only ${formatDuration(remaining)} remain`;
  return new RequestError(message, { ...error, transient: false, cause: error });
}

/** An error that is no bug of the action. The report adds no advice, because the message already gives it. */
export class UserError extends Error {}
