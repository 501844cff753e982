import type { Clock } from './clock.js';
import { type Exchange, ExchangeLog } from './exchange-log.js';
import type { Done, Fault, FaultPlan, RetryAfter } from './faults.js';
import type { PlaneAnswer, PlaneRequest } from './plane.js';
import { endpointOf } from './routes.js';
import { httpDate } from './timestamp.js';
import { type WireStep, wireScript } from './wire-script.js';

/** The control plane, or GitHub. */
export interface Service {
  readonly clock: Clock;
  handle(request: PlaneRequest): PlaneAnswer;
  errorAnswer(status: number, code: string, message: string, headers: PlaneAnswer['headers']): PlaneAnswer;
  /** The headers of every response. */
  commonHeaders(): PlaneAnswer['headers'];
  keyOf?(headers: PlaneRequest['headers']): { readonly id: string } | undefined;
}

export interface Reception {
  readonly exchange: Exchange;
  readonly script: readonly WireStep[];
  /** To be called when the head of the response is sent. */
  readonly headSent: (status: number) => void;
  /** To be called when the response is sent whole, or the connection is closed. */
  readonly over: () => void;
}

/** The response is undefined if nothing was carried out. */
type OnEnd = (exchange: Exchange, answer: PlaneAnswer | undefined) => void;

/** Receives the requests of any network: chooses a fault, lets the service carry the request out, and keeps the log. */
export class Exchanges<F = Fault> {
  readonly log = new ExchangeLog();
  readonly #service: Service;
  readonly #faults: FaultPlan<F>;
  readonly #toFault: (fault: F, request: PlaneRequest) => Fault;
  readonly #onEnd: OnEnd;
  readonly #lateWork = new Set<() => void>();

  constructor(
    service: Service,
    faults: FaultPlan<F>,
    toFault: (fault: F, request: PlaneRequest) => Fault,
    onEnd: OnEnd = () => {},
  ) {
    this.#service = service;
    this.#toFault = toFault;
    this.#faults = faults;
    this.#onEnd = onEnd;
  }

  receive(request: PlaneRequest): Reception {
    const endpoint = endpointOf(request.method, request.target);
    const decided = this.#faults.decide({
      endpoint,
      target: request.target,
      authorization: request.headers['authorization'],
    });
    const fault = decided && this.#toFault(decided, request);
    const exchange = this.#record(request, endpoint, fault?.kind);
    const done = whenDone(fault);
    const carriedOut = done === 'now' ? this.#service.handle(request) : undefined;
    const answer = replacingAnswer(fault, this.#service) ?? carriedOut;
    return {
      exchange,
      script: wireScript(fault, answer),
      headSent: (status) => {
        exchange.status = status;
      },
      over: () => {
        if (exchange.endedAt !== undefined) return;
        if (typeof done === 'object') this.#carryOutLater(request, done.msAfterGivenUp);
        this.#end(exchange, answer);
      },
    };
  }

  /** A request on a connection that the server closes. */
  receiveInVain(request: PlaneRequest): void {
    const endpoint = endpointOf(request.method, request.target);
    this.#end(this.#record(request, endpoint, 'closed-on-arrival'), undefined);
  }

  /** Cancels late requests, and rejects those who wait for an exchange. */
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
      keyId: this.#service.keyOf?.(request.headers)?.id,
      at: this.#service.clock.now(),
      fault,
      status: undefined,
      endedAt: undefined,
    };
    this.log.record(exchange);
    return exchange;
  }

  #end(exchange: Exchange, answer: PlaneAnswer | undefined): void {
    this.log.end(exchange, this.#service.clock.now());
    this.#onEnd(exchange, answer);
  }

  #carryOutLater(request: PlaneRequest, ms: number): void {
    const cancel = this.#service.clock.schedule(ms, () => {
      this.#lateWork.delete(cancel);
      this.#service.handle(request);
    });
    this.#lateWork.add(cancel);
  }
}

function whenDone(fault: Fault | undefined): Done {
  switch (fault?.kind) {
    case 'hang-before-headers':
    case 'cut-before-headers':
      return fault.done ?? 'now';
    case 'status':
    case 'html':
    case 'redirect':
      return fault.done ?? 'never';
    default:
      return 'now';
  }
}

/** The response of a fault in place of the API's, if it has one. */
function replacingAnswer(fault: Fault | undefined, service: Service): PlaneAnswer | undefined {
  switch (fault?.kind) {
    case 'status': {
      const headers = { ...retryAfterHeader(fault.retryAfter, service.clock.now()), ...fault.headers };
      const answer = service.errorAnswer(fault.status, 'FAULT', `The service says ${fault.status}.`, headers);
      return fault.body === undefined ? answer : { ...answer, body: fault.body };
    }
    case 'html': {
      const headers = { ...service.commonHeaders(), 'content-type': 'text/html; charset=utf-8' };
      return { status: fault.status ?? 200, headers, body: fault.body ?? signInPage };
    }
    case 'redirect': {
      const headers = { ...service.commonHeaders(), location: fault.location };
      return { status: fault.status ?? 302, headers, body: '' };
    }
    default:
      return undefined;
  }
}

const signInPage = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

function retryAfterHeader(retryAfter: RetryAfter | undefined, now: number): PlaneAnswer['headers'] {
  if (!retryAfter) return {};
  if ('seconds' in retryAfter) return { 'retry-after': String(retryAfter.seconds) };
  return { 'retry-after': httpDate(now + retryAfter.dateInSeconds * 1000) };
}
