import { sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';

/** A failed request to the control API or to GitHub. The message is for users. */
export class RequestError extends Error {
  /** HTTP status. Undefined if no complete response arrived. */
  readonly status: number | undefined;
  readonly transient: boolean = false;
  /** True if a retry may help at any time before the deadline. */
  readonly isUntilDeadline: boolean = false;
  readonly retryAfterMs: number | undefined;
  /** True if the service may have carried out the request despite the error. */
  readonly mayHaveTakenEffect: boolean = false;
  /** True if the response is an HTML page. A proxy may have sent the page, so it proves nothing about the service. */
  readonly isPage: boolean = false;
  /** True if no whole response arrived in time. */
  readonly isSilence: boolean = false;

  constructor(message: string, details: RequestErrorOptions, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, details);
  }

  /** True if the service asks the client to retry later. Such a request is repeated until the deadline. */
  get isThrottled(): boolean {
    return this.status === 423 || this.status === 429 || this.isServiceStatus(425);
  }

  /** True if the service itself sent the status. */
  isServiceStatus(status: number): boolean {
    return this.status === status && !this.isPage;
  }

  /** True if no request of this kind can be sent, for example because a proxy variable is invalid. */
  get isUnsendable(): boolean {
    return this.status === undefined && !this.transient && !this.mayHaveTakenEffect;
  }

  /** True for a 4xx that a retry cannot change. False for an HTML page, unless it is a proxy's 407. */
  get isPermanent(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient;
  }
}

export type RequestErrorOptions = Pick<RequestError, 'transient'> &
  Partial<
    Pick<RequestError, 'status' | 'retryAfterMs' | 'isUntilDeadline' | 'mayHaveTakenEffect' | 'isPage' | 'isSilence'>
  >;

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

/** `peer`: what the connection leads to. `isUnsent`: the request was never sent. */
export function socketError(error: NodeJS.ErrnoException, peer: string, isUnsent: boolean): TransportError {
  // An AggregateError has no message, and one error for each address of the host.
  const { message, code = '' } = error instanceof AggregateError ? error.errors.at(-1) : error;
  const text = sanitizeLine(message.includes(code) ? message : `${message} (${code})`);
  // OpenSSL's text about plain http names lines of its source.
  const isNoTls = /EPROTO|SSL/.test(code);
  const reason = isNoTls ? `no TLS (${code}). Does the port serve plain http?` : text;
  const hint = /SELF_SIGNED|UNABLE_TO/.test(code) ? '. Is NODE_EXTRA_CA_CERTS set?' : '';
  const what = isUnsent ? `Could not connect to ${peer}` : `The connection to ${peer} failed`;
  return new TransportError(`${what}: ${reason}${hint}`, { cause: error, mayHaveTakenEffect: !isUnsent });
}
