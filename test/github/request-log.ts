import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from './faults.js';

export interface LoggedRequest {
  readonly method: string;
  /** As it came: with base path and query. */
  readonly path: string;
  /** Authorization too. */
  readonly headers: IncomingHttpHeaders;
  readonly fault: Fault['kind'] | undefined;
  /** Of the answer, once its headers were sent. */
  status: number | undefined;
}

/** Which request to wait for: the n-th (the first, if not given) whose path holds the text. */
export interface Awaited {
  readonly path?: string;
  readonly n?: number;
}

interface Waiter {
  readonly awaited: Awaited;
  readonly resolve: (request: LoggedRequest) => void;
  readonly reject: (reason: Error) => void;
}

export class RequestLog {
  readonly requests: LoggedRequest[] = [];
  readonly #waiters = new Set<Waiter>();

  record(request: LoggedRequest): void {
    this.requests.push(request);
    for (const waiter of this.#waiters) {
      const found = this.#find(waiter.awaited);
      if (!found) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(found);
    }
  }

  /** Resolves at once, if it came before. */
  arrived(awaited: Awaited = {}): Promise<LoggedRequest> {
    const found = this.#find(awaited);
    if (found) return Promise.resolve(found);
    const arriving = new Promise<LoggedRequest>((resolve, reject) => {
      this.#waiters.add({ awaited, resolve, reject });
    });
    // A test may have lost interest by the time all is closed; that must not count as an unhandled rejection.
    arriving.catch(() => {});
    return arriving;
  }

  close(): void {
    for (const { reject } of this.#waiters) reject(new Error('GitHub was closed before that request came.'));
    this.#waiters.clear();
  }

  #find({ path: text = '', n = 1 }: Awaited): LoggedRequest | undefined {
    return this.requests.filter(({ path }) => path.includes(text))[n - 1];
  }
}
