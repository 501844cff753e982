import type { Exchanges, Reception } from '../../control-plane/index.js';
import { RequestError } from '../../src/http/errors.js';
import type { Exchange, HttpResponse } from '../../src/http/exchange.js';
import type { VirtualClock } from './clock.js';

/** Bytes that a virtual connection carries in a millisecond. */
const bandwidth = 100_000;

/** The milliseconds that a request travels to the service, or its response back. */
export type Trip = (way: 'there' | 'back', path: string) => number;

/** One client's connection to a control plane without sockets. */
export function virtualNetwork(exchanges: Exchanges, clock: VirtualClock, trip: Trip = () => 0): Exchange {
  /** The connection is kept alive, until the service gives it up. */
  let isGivenUp = false;

  return ({ method, url, headers, body: requestBody = '', maxBytes }, onStop) =>
    new Promise((resolve, reject) => {
      const request = { method, target: url.pathname + url.search, headers, body: requestBody, from: '192.0.2.1' };
      let settled = false;
      let reception: Reception | undefined;
      let head: Omit<HttpResponse, 'body'> = { status: 0, headers: {} };
      let body = '';
      let stopWaiting = (): void => undefined;

      function wait(ms: number, call: () => void): void {
        stopWaiting = clock.schedule(clock.now() + ms, call);
      }

      function travel(way: 'there' | 'back', arrive: () => void): void {
        const ms = trip(way, request.target);
        if (ms > 0) wait(ms, arrive);
        else arrive();
      }

      function fail(message: string): void {
        if (settled) return;
        settled = true;
        reception?.over();
        reject(new RequestError(message));
      }

      function respond(response: HttpResponse): void {
        reception?.over();
        travel('back', () => {
          settled = true;
          resolve(response);
        });
      }

      function arrive() {
        if (isGivenUp) {
          isGivenUp = false;
          exchanges.receiveInVain(request);
          return fail('Connection reset (ECONNRESET)');
        }
        reception = exchanges.receive(request);
        play(reception, 0);
      }

      /** After a step `hang`, nothing follows. */
      function play(received: Reception, from: number): void {
        const step = received.script[from];
        const next = () => play(received, from + 1);
        if (step?.step === 'wait') wait(step.ms, next);
        else if (step?.step === 'end') respond({ ...head, body });
        else if (step?.step === 'cut')
          travel('back', () => fail(`The connection closed after ${body.length} bytes of the body`));
        else if (step?.step === 'answer') {
          isGivenUp = step.closeOnNextRequest;
          received.headSent(step.answer.status);
          respond({ status: step.answer.status, headers: step.answer.headers, body: step.answer.body });
        } else if (step?.step === 'head') {
          head = { status: step.status, headers: step.headers };
          received.headSent(step.status);
          next();
        } else if (step?.step === 'send') {
          body += step.text;
          next();
        } else if (step?.step === 'flood') {
          const message = `The response is larger than ${maxBytes / 2 ** 20} MiB`;
          wait(maxBytes / bandwidth, () => fail(message));
        }
      }

      travel('there', arrive);
      if (settled) return;
      onStop(() => {
        stopWaiting();
        fail('The exchange was given up');
      });
    });
}
