import type { OnCancel } from '../time/deadline.js';
import { RequestError, type RequestErrorOptions } from './errors.js';

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

export type HttpHeaders = Readonly<Record<string, string | undefined>>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The complete body. A truncated body is a `TransportError`, never a response. */
  readonly body: string;
  /** The request was sent twice, and this responds to the second. The service may have carried out the first one too. */
  readonly wasResent?: boolean;
}

/** The exchange ended without a complete response. */
export class TransportError extends RequestError {
  /** `mayHaveTakenEffect`: false if the request never reached the service. `status`: set only if a proxy rejected it. */
  constructor(message: string, details: Partial<RequestErrorOptions> & ErrorOptions = {}) {
    super(message, { transient: true, mayHaveTakenEffect: true, ...details }, details);
  }
}
