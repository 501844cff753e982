import { type Exchange, ExchangeLog } from './exchange-log.js';
import { replacingAnswer, whenDone } from './fault-answer.js';
import type { FaultPlan } from './faults.js';
import type { ControlPlane, PlaneRequest } from './plane.js';
import { endpointOf } from './routes.js';
import { type WireStep, wireScript } from './wire-script.js';

export interface Reception {
  readonly exchange: Exchange;
  readonly script: readonly WireStep[];
  /** Whoever plays the script says when the head of an answer is out … */
  readonly headSent: (status: number) => void;
  /** … and when all is over: sent whole, or the connection gone. */
  readonly over: () => void;
}

/** Takes requests in, whatever network brings them: decides on a fault, has the plane carry it out, and keeps the log. */
export class Exchanges {
  readonly log = new ExchangeLog();
  readonly #plane: ControlPlane;
  readonly #faults: FaultPlan;
  readonly #onEnd: (exchange: Exchange) => void;
  readonly #lateWork = new Set<() => void>();

  constructor(plane: ControlPlane, faults: FaultPlan, onEnd: (exchange: Exchange) => void = () => {}) {
    this.#plane = plane;
    this.#faults = faults;
    this.#onEnd = onEnd;
  }

  receive(request: PlaneRequest): Reception {
    const endpoint = endpointOf(request.method, request.target);
    const fault = this.#faults.decide({ endpoint, target: request.target });
    const exchange = this.#record(request, endpoint, fault?.kind);
    const done = whenDone(fault);
    const carriedOut = done === 'now' ? this.#plane.handle(request) : undefined;
    return {
      exchange,
      script: wireScript(fault, replacingAnswer(fault, this.#plane) ?? carriedOut),
      headSent: (status) => {
        exchange.status = status;
      },
      over: () => {
        if (exchange.endedAt !== undefined) return;
        if (typeof done === 'object') this.#carryOutLater(request, done.msAfterGivenUp);
        this.#end(exchange);
      },
    };
  }

  /** A request on a connection that the server had given up. */
  receiveInVain(request: PlaneRequest): void {
    const endpoint = endpointOf(request.method, request.target);
    this.#end(this.#record(request, endpoint, 'closed-on-arrival'));
  }

  /** Nothing is carried out any more, and who waits is told so. */
  close(): void {
    for (const cancel of this.#lateWork) cancel();
    this.#lateWork.clear();
    this.log.close();
  }

  #record(request: PlaneRequest, endpoint: Exchange['endpoint'], fault: Exchange['fault']): Exchange {
    const exchange: Exchange = {
      n: this.log.exchanges.length + 1,
      endpoint,
      method: request.method,
      path: request.target,
      headers: request.headers,
      body: request.body,
      keyId: this.#plane.keyOf(request.headers)?.id,
      at: this.#plane.clock.now(),
      fault,
      status: undefined,
      endedAt: undefined,
    };
    this.log.record(exchange);
    return exchange;
  }

  #end(exchange: Exchange): void {
    this.log.end(exchange, this.#plane.clock.now());
    this.#onEnd(exchange);
  }

  #carryOutLater(request: PlaneRequest, ms: number): void {
    const cancel = this.#plane.clock.schedule(ms, () => {
      this.#lateWork.delete(cancel);
      this.#plane.handle(request);
    });
    this.#lateWork.add(cancel);
  }
}
