import { type Limit, Limiter } from '../control-plane/index.js';
import { type Random, seededRandom } from '../control-plane/random.js';
import type { Exchange, HttpResponse } from '../src/http/exchange.js';
import type { WaitSettings } from '../src/modes/wait-operation/settings.js';
import { VirtualClock } from '../test/virtual/clock.js';
import { runWait } from '../test/virtual/run-wait.js';

const pageSize = 100;
const day = 86_400_000;

interface World {
  readonly seed?: number;
  /** The usual time that a request or a response travels, in milliseconds. It varies by a quarter. */
  readonly trip?: number;
  readonly limiter?: Limit;
  /** The ends of the operations of each project in milliseconds, newest operation first. */
  readonly ends?: readonly number[];
}

/** The part of the service that a wait needs, in virtual time. The wait is real. */
export class Service {
  readonly clock = new VirtualClock();
  requests = 0;
  /** Reads that begin at the newest operation. */
  listReads = 0;
  readonly #random: Random;
  readonly #trip: number;
  readonly #limiter: Limiter | undefined;
  readonly #ends: readonly number[];

  constructor({ seed = 1, trip = 0, limiter, ends = [] }: World) {
    this.#random = seededRandom(seed);
    this.#trip = trip;
    this.#limiter = limiter && new Limiter(limiter, this.clock.now());
    this.#ends = ends;
  }

  /** A process that waits from now on. Returns the time when it ends. */
  async wait(what: Pick<WaitSettings, 'projectIds' | 'target'>): Promise<number> {
    const { clock } = this;
    const { verdict } = await runWait(what, { exchange: this.#exchange, clock, timeout: day, random: this.#random });
    if (verdict !== 'finished') throw new Error(`A wait of the bench ended ${verdict} after ${clock.now()} ms.`);
    return clock.now();
  }

  readonly #exchange: Exchange = async ({ url }) => {
    await this.#travel();
    const response = this.#respond(url);
    await this.#travel();
    return response;
  };

  async #travel(): Promise<void> {
    if (this.#trip > 0) await this.clock.sleep(this.#trip * (0.75 + this.#random() / 2));
  }

  #respond(url: URL): HttpResponse {
    this.requests++;
    const limiter = this.#limiter;
    if (limiter === undefined || limiter.admits(this.clock.now()))
      return { status: 200, headers: {}, body: this.#read(url) };
    return { status: 429, headers: limiter.headers, body: '{"message":"too many requests"}' };
  }

  #read(url: URL): string {
    const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
    if (name !== 'operations') return JSON.stringify({ operation: this.#record(Number(name.slice(-12))) });
    const from = Number(url.searchParams.get('cursor'));
    if (from === 0) this.listReads++;
    const to = from + pageSize;
    const operations = this.#ends.slice(from, to).map((_, n) => this.#record(from + n));
    return JSON.stringify({ operations, pagination: to < this.#ends.length ? { cursor: String(to) } : {} });
  }

  #record(n: number) {
    const status = this.clock.now() >= (this.#ends[n] ?? Number.POSITIVE_INFINITY) ? 'finished' : 'running';
    return { id: idOf(n), status, action: 'create_branch', created_at: '2024-01-01T00:00:00Z' };
  }
}

/** The id of an operation by its place in the list. */
export function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}
