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
  /** As they came, Authorization too. */
  readonly headers: PlaneRequest['headers'];
  readonly body: string;
  /** Id of the key it bore, if this plane ever made that one. */
  readonly keyId: string | undefined;
  /** When it arrived, by the plane's clock. */
  readonly at: number;
  readonly fault: Fault['kind'] | 'closed-on-arrival' | undefined;
  /** Of the answer, once its headers were sent. */
  status: number | undefined;
  /** When the answer was sent whole or the connection was gone. */
  endedAt: number | undefined;
}

/** Which exchange to wait for: the n-th (the first, if not given) of the endpoint (any, if not given) whose path holds the text. */
export interface Awaited {
  readonly endpoint?: Endpoint | 'other' | 'any';
  readonly path?: string;
  readonly n?: number;
}

type Stage = 'arrived' | 'ended';

interface Waiter {
  readonly stage: Stage;
  readonly awaited: Awaited;
  left: number;
  readonly resolve: (exchange: Exchange) => void;
  readonly reject: (reason: Error) => void;
}

/** Keeps every exchange, and lets tests wait for one without looking again and again. */
export class ExchangeLog {
  readonly exchanges: Exchange[] = [];
  readonly #waiters = new Set<Waiter>();

  record(exchange: Exchange): void {
    this.exchanges.push(exchange);
    this.#tell('arrived', exchange);
  }

  end(exchange: Exchange, now: number): void {
    exchange.endedAt = now;
    this.#tell('ended', exchange);
  }

  /** Resolves when so many have come to that stage; at once, if they had before. */
  wait(stage: Stage, awaited: Awaited = {}): Promise<Exchange> {
    const { n = 1 } = awaited;
    const past = this.exchanges.filter((exchange) => hasReached(exchange, stage) && isAwaited(exchange, awaited));
    const nth = past[n - 1];
    if (nth) return Promise.resolve(nth);
    const waiting = new Promise<Exchange>((resolve, reject) => {
      this.#waiters.add({ stage, awaited, left: n - past.length, resolve, reject });
    });
    // A test may have lost interest by the time all is closed; that must not count as an unhandled rejection.
    waiting.catch(() => {});
    return waiting;
  }

  close(): void {
    for (const { reject } of this.#waiters) reject(new Error('The service was closed before that request came.'));
    this.#waiters.clear();
  }

  #tell(stage: Stage, exchange: Exchange): void {
    for (const waiter of this.#waiters) {
      if (waiter.stage !== stage || !isAwaited(exchange, waiter.awaited) || --waiter.left > 0) continue;
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
