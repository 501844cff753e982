import type { OnStop } from '../time/limit.js';

/** Sends one request and returns its complete response. Tests replace the sockets with memory. */
export type Exchange = (request: Request, onStop: OnStop) => Promise<Answer>;

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A larger response is rejected before it is parsed, because no deadline can interrupt a parser. */
  readonly mostBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The complete body. A truncated body is a `TransportError`, never a response. */
  readonly body: string;
  /** The request was sent twice, and this responds to the second. The service may have carried out the first one too. */
  readonly isToRepeat?: boolean;
}

/** The exchange ended without a complete response. */
export class Broken extends Error {
  /** Whether a retry can help. */
  readonly transient: boolean;
  /** The status that a proxy sent. */
  readonly status: number | undefined;
  /** Whether the service may have carried out the request. False if the request never reached it. */
  readonly unclear: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { transient?: boolean; status?: number; unclear?: boolean } = {},
  ) {
    super(message, options);
    this.transient = options.transient ?? true;
    this.status = options.status;
    this.unclear = options.unclear ?? true;
  }
}
