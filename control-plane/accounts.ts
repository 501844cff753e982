import type { Service } from './exchanges.js';
import type { ControlPlane, PlaneAnswer, PlaneRequest } from './plane.js';

/** Two accounts of one service. The key of a request decides which account it sees. */
export class Accounts implements Service {
  readonly clock;
  readonly #first: ControlPlane;
  readonly #other: ControlPlane;

  constructor(first: ControlPlane, other: ControlPlane) {
    this.clock = first.clock;
    this.#first = first;
    this.#other = other;
  }

  handle(request: PlaneRequest): PlaneAnswer {
    const account = this.#other.keyOf(request.headers) ? this.#other : this.#first;
    return account.handle(request);
  }

  errorAnswer(...problem: Parameters<Service['errorAnswer']>): PlaneAnswer {
    return this.#first.errorAnswer(...problem);
  }

  commonHeaders(): PlaneAnswer['headers'] {
    return this.#first.commonHeaders();
  }

  keyOf(headers: PlaneRequest['headers']): { readonly id: string } | undefined {
    return this.#first.keyOf(headers) ?? this.#other.keyOf(headers);
  }
}
