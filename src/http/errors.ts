import { formatDuration } from '../time/duration.js';
import type { Answer } from './exchange.js';

interface Particulars {
  /** The status of the response. `undefined` without a complete response. */
  readonly status?: number | undefined;
  /** Whether a retry can help. */
  readonly transient: boolean;
  /** Milliseconds. */
  readonly retryAfter?: number | undefined;
  /** Whether the service may have carried out the request despite the error. */
  readonly unclear?: boolean;
  /** Whether the response is an HTML page. It may come from a proxy, so it proves nothing about the service. */
  readonly isPage?: boolean;
}

/** An exchange with the control API without a usable response. The message is for users and contains no secret. */
export class ApiError extends Error {
  readonly status: number | undefined;
  readonly transient: boolean;
  readonly retryAfter: number | undefined;
  readonly unclear: boolean;
  readonly isPage: boolean;

  constructor(message: string, particulars: Particulars, options?: ErrorOptions) {
    super(message, options);
    this.status = particulars.status;
    this.transient = particulars.transient;
    this.retryAfter = particulars.retryAfter;
    this.unclear = particulars.unclear ?? false;
    this.isPage = particulars.isPage ?? false;
  }

  /** 423 and 429 mean: try later. They do not count as failures. */
  get asksForPatience(): boolean {
    return this.status === 423 || this.status === 429;
  }

  /** Whether the service itself sent this status. An HTML page may come from a proxy. */
  says(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** Whether the service itself sent a 4xx that a retry cannot change. */
  get refused(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient && !this.isPage;
  }
}

/** The `Retry-After` of a 423 or 429 ends after the deadline. */
export class AskedToWaitTooLong extends ApiError {
  constructor(answer: ApiError, left: number) {
    const asked = formatDuration(answer.retryAfter ?? 0);
    super(`${answer.message}. It asks to wait ${asked}, but only ${formatDuration(left)} are left`, answer, {
      cause: answer,
    });
  }
}

export function isTransientStatus(status: number): boolean {
  return [408, 423, 425, 429, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 530);
}

export function requestId(answer: Answer): string | undefined {
  return ['x-request-id', 'request-id', 'x-correlation-id'].map((name) => answer.headers[name]).find(Boolean);
}
