import { type Exchange, type HttpRequest, type HttpResponse, TransportError } from '../../src/http/exchange.js';
import type { Exchanges, Reception, WireStep } from '../control-plane/index.js';
import type { VirtualClock } from './clock.js';

/** Bytes that a virtual connection carries in a millisecond, and how many of a body the client takes. */
const bandwidth = 100_000;
const largestBody = 256 * 1024 * 1024;

export interface NetworkOptions {
  /** Milliseconds that a request or its response travels. Default: none. */
  readonly trip?: () => number;
}

/**
 * One client's connection to a control plane without sockets. It carries out the plane's script in virtual time as a server
 * does on a socket.
 */
export function virtualNetwork(exchanges: Exchanges, clock: VirtualClock, { trip }: NetworkOptions = {}): Exchange {
  const connection: Connection = { givenUp: false };
  return (request, onStop) =>
    new Promise((resolve, reject) => {
      const delivery = new Delivery({ exchanges, clock, trip, connection, resolve, reject });
      delivery.send(request);
      if (!delivery.settled) onStop(() => delivery.giveUp());
    });
}

/** It is kept alive, until the service gives it up. */
interface Connection {
  givenUp: boolean;
}

interface Parts {
  readonly exchanges: Exchanges;
  readonly clock: VirtualClock;
  readonly trip: (() => number) | undefined;
  readonly connection: Connection;
  readonly resolve: (answer: HttpResponse) => void;
  readonly reject: (error: TransportError) => void;
}

class Delivery {
  readonly #parts: Parts;
  settled = false;
  #reception: Reception | undefined;
  #stopWaiting = (): void => undefined;
  #head: Omit<HttpResponse, 'body'> = { status: 0, headers: {} };
  #body = '';
  #isRepeated = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  send(request: HttpRequest): void {
    this.#travel(() => this.#arrive(request));
  }

  giveUp(): void {
    this.#stopWaiting();
    this.#break('The exchange was given up');
  }

  #arrive({ method, url, headers, body = '' }: HttpRequest): void {
    const { exchanges, connection } = this.#parts;
    const received = { method, target: url.pathname + url.search, headers, body, from: '192.0.2.1' };
    if (connection.givenUp) {
      connection.givenUp = false;
      exchanges.receiveInVain(received);
      // As the action's client does, except for a POST.
      this.#isRepeated = true;
      if (method === 'POST') {
        this.#break('Connection reset (ECONNRESET)');
        return;
      }
    }
    this.#reception = exchanges.receive(received);
    this.#play(this.#reception, 0);
  }

  #play(reception: Reception, from: number): void {
    const { clock, connection } = this.#parts;
    for (let index = from; index < reception.script.length; index++) {
      const step = reception.script[index] as WireStep;
      switch (step.step) {
        case 'wait':
          this.#stopWaiting = clock.schedule(clock.now() + step.ms, () => this.#play(reception, index + 1));
          return;
        case 'answer': {
          const { status, headers, body } = step.answer;
          connection.givenUp = step.closeOnNextRequest;
          reception.headSent(status);
          this.#answer({ status, headers, body });
          return;
        }
        case 'head':
          this.#head = { status: step.status, headers: step.headers };
          reception.headSent(step.status);
          break;
        case 'send':
          this.#body += step.text;
          break;
        case 'end':
          this.#answer({ ...this.#head, body: this.#body });
          return;
        case 'flood':
          this.#stopWaiting = clock.schedule(clock.now() + largestBody / bandwidth, () =>
            this.#break('The response is larger than the maximum of 256 MiB', { transient: false }),
          );
          return;
        case 'hang':
          return;
        case 'cut':
          this.#travel(() => this.#break(`The connection closed after ${this.#body.length} bytes of the body`));
          return;
      }
    }
  }

  #answer(answer: HttpResponse): void {
    this.#over();
    this.#travel(() => {
      this.settled = true;
      this.#parts.resolve(this.#isRepeated ? { ...answer, wasResent: true } : answer);
    });
  }

  #break(message: string, options?: { transient: boolean }): void {
    if (this.settled) return;
    this.settled = true;
    this.#over();
    this.#parts.reject(new TransportError(message, options));
  }

  #over(): void {
    this.#reception?.over();
  }

  #travel(arrive: () => void): void {
    const { clock, trip } = this.#parts;
    const ms = trip?.() ?? 0;
    if (ms > 0) this.#stopWaiting = clock.schedule(clock.now() + ms, arrive);
    else arrive();
  }
}
