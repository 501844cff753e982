import type { OnCancel } from '../time/deadline.js';

/** A test compares the version with package.json. */
export const userAgent = 'ctl-action/1.0.0';

/** Sends one request and returns its complete response. A truncated body is a `RequestError`. */
export type Exchange = (request: HttpRequest, onCancel: OnCancel) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** A larger body of the response is never parsed, because no deadline can interrupt a parser. */
  readonly maxBytes: number;
  /** The exchange updates this. While `isConnecting` is true, nothing is sent yet. */
  readonly progress?: { isConnecting: boolean };
}

export type HttpHeaders = Readonly<Record<string, string | undefined>>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: string;
}

/** In milliseconds. A date is relative to the `Date` header, or to `nowMs` if there is none. */
export function parseRetryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text !== undefined && /^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const until = parseHttpDate(text);
  return until && Math.max(0, until - (parseHttpDate(headers['date']) ?? nowMs));
}

/** In milliseconds since 1970. Date.parse alone would read a bare number as a year. */
export function parseHttpDate(text = ''): number | undefined {
  return (/GMT\s*$/.test(text) && Date.parse(text)) || undefined;
}
