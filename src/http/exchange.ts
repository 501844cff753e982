import type { OnStop } from '../time/limit.js';

/** One request and its whole answer. What carries it, sockets or memory, is the caller's choice. */
export type Exchange = (request: Request, onStop: OnStop) => Promise<Answer>;

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A larger answer is refused, before it is parsed: no deadline can interrupt a parser. */
  readonly mostBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whole: a body that was cut is a `Broken`, never an answer. */
  readonly body: string;
  /** To the second of two: the service may have carried out the first. */
  readonly isToRepeat?: boolean;
}

/** The exchange did not come to a whole answer. */
export class Broken extends Error {
  /** Whether asking again can help. */
  readonly transient: boolean;
  /** What a proxy said in place of the service. */
  readonly status: number | undefined;
  /** Whether the service may have carried out the request all the same; not where it never got it. */
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
