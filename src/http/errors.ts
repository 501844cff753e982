import { formatDuration } from '../time/duration.js';

/** A failed request to the control API or to GitHub. The message is for users and contains no secret. */
export class RequestError extends Error {
  /** HTTP status. Undefined if no complete response arrived. */
  readonly status: number | undefined;
  readonly transient: boolean = false;
  readonly retryAfterMs: number | undefined;
  /** True if the service may have carried out the request despite the error. */
  readonly mayHaveTakenEffect: boolean = false;
  /** True if the response is an HTML page. A proxy may have sent the page, so it proves nothing about the service. */
  readonly isPage: boolean = false;
  readonly isUnknownHost: boolean = false;

  constructor(message: string, details: RequestErrorOptions, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, details);
  }

  /** True if the service asks the client to retry later. The contract does not treat 423 and 429 as failures. */
  get isThrottled(): boolean {
    return this.status === 423 || this.status === 429;
  }

  /** True if the service itself sent the status. False for an HTML page, because a proxy may have sent it. */
  isServiceStatus(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** True for a 4xx that a retry cannot change. A page is not one, except for the 407 of a proxy. */
  get isPermanent(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient;
  }
}

export type RequestErrorOptions = Pick<RequestError, 'transient'> &
  Partial<Pick<RequestError, 'status' | 'retryAfterMs' | 'mayHaveTakenEffect' | 'isPage' | 'isUnknownHost'>>;

/** No complete response arrived. Unless `details` say otherwise, a retry may help, and the request may have taken effect. */
export class TransportError extends RequestError {
  constructor(message: string, details: Partial<RequestErrorOptions> & ErrorOptions = {}) {
    super(message, { transient: true, mayHaveTakenEffect: true, ...details }, details);
  }
}

export class RetryAfterExceedsDeadline extends RequestError {
  constructor(error: RequestError, remaining: number) {
    const asked = formatDuration(error.retryAfterMs ?? 0);
    const message = `${error.message}. The response asks to wait ${asked}, but only ${formatDuration(remaining)} remain`;
    super(message, error, { cause: error });
  }
}

/** An error that is no bug of the action. The report adds no advice, because the message already gives it. */
export class UserError extends Error {}
