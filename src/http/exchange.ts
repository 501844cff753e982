import type { OnCancel } from '../time/deadline.js';

/** The version must match the one in package.json. A test compares them. */
export const userAgent = 'ctl-action/1.0.0';

/** Sends one request and returns its complete response. Tests pass an exchange without sockets. */
export type Exchange = (request: HttpRequest, onCancel: OnCancel) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** True if the response can hold a new key. */
  readonly makesKey?: boolean;
  /** True if an empty response is usable. */
  readonly mayBeEmpty?: boolean;
  /** Called with true when a new connection begins, and with false when it is ready. Before that, nothing is sent. */
  readonly onConnecting?: ((isConnecting: boolean) => void) | undefined;
  /** Maximum size of the response body. A larger body is never parsed, because no deadline can interrupt a parser. */
  readonly maxBytes: number;
}

export type HttpHeaders = Readonly<Record<string, string | undefined>>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The complete body. A truncated body causes a `TransportError` instead of a response. */
  readonly body: string;
}
