import { formatDuration } from '../time/duration.js';
import type { Answer } from './exchange.js';

interface Particulars {
  /** Of the answer; none where no whole answer came. */
  readonly status?: number | undefined;
  /** Whether asking again can help. */
  readonly transient: boolean;
  /** Milliseconds. */
  readonly retryAfter?: number | undefined;
  /** Whether the service may have carried out the request all the same. */
  readonly unclear?: boolean;
  /** Whether a page for people came in place of an answer of the service: it proves nothing. */
  readonly isPage?: boolean;
}

/** An exchange with the control API that gave no usable answer. The message is fit for people, and holds no secret. */
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

  /** The service asks for patience; that is no failure. */
  get asksForPatience(): boolean {
    return this.status === 423 || this.status === 429;
  }

  /** Whether the service itself says so, and not a page that came in its place. */
  says(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** A 4xx by which the service itself says no, and will say no again. */
  get refused(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient && !this.isPage;
  }
}

/** The service asks to be left alone for longer than there is time. */
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
