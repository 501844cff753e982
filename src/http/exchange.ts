import type { OnCancel } from '../time/deadline.js';

/** Sends one request and returns its complete response. Tests replace the sockets with memory. */
export type Exchange = (request: HttpRequest, onCancel: OnCancel) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A larger response is rejected before it is parsed, because no deadline can interrupt a parser. */
  readonly maxBytes: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The complete body. A truncated body is a `TransportError`, never a response. */
  readonly body: string;
  /** The request was sent twice, and this responds to the second. The service may have carried out the first one too. */
  readonly wasResent?: boolean;
}

/** The exchange ended without a complete response. */
export class TransportError extends Error {
  /** Whether a retry can help. */
  readonly transient: boolean;
  /** The status that a proxy sent. */
  readonly status: number | undefined;
  /** Whether the service may have carried out the request. False if the request never reached it. */
  readonly mayHaveTakenEffect: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { transient?: boolean; status?: number; mayHaveTakenEffect?: boolean } = {},
  ) {
    super(message, options);
    this.transient = options.transient ?? true;
    this.status = options.status;
    this.mayHaveTakenEffect = options.mayHaveTakenEffect ?? true;
  }
}
