import type { Fault } from './faults.js';
import type { PlaneRequest } from './plane.js';
import type { Endpoint } from './routes.js';

/** One request in the log. */
export interface Exchange {
  /** From 1, in order of arrival. */
  readonly n: number;
  readonly endpoint: Endpoint | 'other';
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Unchanged, with Authorization. */
  readonly headers: PlaneRequest['headers'];
  readonly body: string;
  /** Id of its key, if this plane created it. */
  readonly keyId: string | undefined;
  /** When it arrived, by the plane's clock. */
  readonly at: number;
  readonly fault: Fault['kind'] | 'closed-on-arrival' | undefined;
  /** Set when the headers of the response are sent. */
  status: number | undefined;
  /** When the response was sent whole, or the connection closed. */
  endedAt: number | undefined;
}

/** An exchange to wait for: the n-th (default: the first) of the endpoint (default: any) whose path contains the text. */
export interface Awaited {
  readonly endpoint?: Endpoint | 'other' | 'any';
  readonly path?: string;
  readonly n?: number;
}

type Stage = 'arrived' | 'ended';

interface Waiter {
  readonly stage: Stage;
  readonly awaited: Awaited;
  remaining: number;
  readonly resolve: (exchange: Exchange) => void;
  readonly reject: (reason: Error) => void;
}

/** Keeps every exchange. A test can wait for one without polling. */
export class ExchangeLog {
  readonly exchanges: Exchange[] = [];
  readonly #waiters = new Set<Waiter>();

  record(exchange: Exchange): void {
    this.exchanges.push(exchange);
    this.#notify('arrived', exchange);
  }

  end(exchange: Exchange, now: number): void {
    exchange.endedAt = now;
    this.#notify('ended', exchange);
  }

  /** Resolves when the exchange has reached the stage, also if it already has. */
  wait(stage: Stage, awaited: Awaited = {}): Promise<Exchange> {
    const { n = 1 } = awaited;
    const past = this.exchanges.filter((exchange) => hasReached(exchange, stage) && isAwaited(exchange, awaited));
    const nth = past[n - 1];
    if (nth) return Promise.resolve(nth);
    const waiting = new Promise<Exchange>((resolve, reject) => {
      this.#waiters.add({ stage, awaited, remaining: n - past.length, resolve, reject });
    });
    // A test may no longer wait when the service closes. That must not count as an unhandled rejection.
    waiting.catch(() => {});
    return waiting;
  }

  close(): void {
    for (const { reject } of this.#waiters) reject(new Error('The service was closed before that request came.'));
    this.#waiters.clear();
  }

  #notify(stage: Stage, exchange: Exchange): void {
    for (const waiter of this.#waiters) {
      if (waiter.stage !== stage || !isAwaited(exchange, waiter.awaited) || --waiter.remaining > 0) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(exchange);
    }
  }
}

function hasReached(exchange: Exchange, stage: Stage): boolean {
  return stage === 'arrived' || exchange.endedAt !== undefined;
}

function isAwaited(exchange: Exchange, { endpoint = 'any', path = '' }: Awaited): boolean {
  return (endpoint === 'any' || exchange.endpoint === endpoint) && exchange.path.includes(path);
}
