import { formatDuration } from '../time/duration.js';
import type { HttpResponse } from './exchange.js';

/** A request to the control API or to GitHub without a usable result. The message is for users and contains no secret. */
export class RequestError extends Error {
  /** The status of the response. `undefined` without a complete response. */
  readonly status: number | undefined;
  /** Whether a retry can help. */
  readonly transient: boolean;
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the service may have carried out the request despite the error. */
  readonly mayHaveTakenEffect: boolean;
  /** Whether the response is an HTML page. It may come from a proxy, so it proves nothing about the service. */
  readonly isPage: boolean;

  constructor(message: string, details: RequestErrorOptions, options?: ErrorOptions) {
    super(message, options);
    this.status = details.status;
    this.transient = details.transient;
    this.retryAfterMs = details.retryAfterMs;
    this.mayHaveTakenEffect = details.mayHaveTakenEffect ?? false;
    this.isPage = details.isPage ?? false;
  }

  /** 423 and 429 mean: try later. They do not count as failures. */
  get isThrottled(): boolean {
    return this.status === 423 || this.status === 429;
  }

  /** Whether the service itself sent this status. An HTML page may come from a proxy. */
  isServiceStatus(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** Whether the service itself sent a 4xx that a retry cannot change. */
  get isPermanent(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient && !this.isPage;
  }
}

export type RequestErrorOptions = Pick<RequestError, 'transient'> &
  Partial<Pick<RequestError, 'status' | 'retryAfterMs' | 'mayHaveTakenEffect' | 'isPage'>>;

/** The `Retry-After` of a 423 or 429 ends after the deadline. */
export class RetryAfterExceedsDeadline extends RequestError {
  constructor(error: RequestError, remaining: number) {
    const asked = formatDuration(error.retryAfterMs ?? 0);
    super(`${error.message}. It asks to wait ${asked}, but only ${formatDuration(remaining)} remain`, error, {
      cause: error,
    });
  }
}

export function requestId(response: HttpResponse): string | undefined {
  return ['x-request-id', 'request-id', 'x-correlation-id'].map((name) => response.headers[name]).find(Boolean);
}
