import { type Random, seededRandom } from './random.js';
import type { Endpoint } from './routes.js';

/**
 * Whether the request is carried out all the same. `msAfterGivenUp`: so long after the connection was given up, by whichever
 * side, as by a service that works on what a dead proxy had handed to it.
 */
export type Done = 'now' | 'never' | { readonly msAfterGivenUp: number };

export type RetryAfter = { readonly seconds: number } | { readonly dateInSeconds: number };

/** How a connection is cut: closed as by a server that ends, or reset. */
export type CutBy = 'close' | 'reset';

/** The client gets no answer. Carried out now when not told otherwise: done, but the answer lost. */
export type LostFault =
  | { readonly kind: 'hang-before-headers'; readonly done?: Done }
  | { readonly kind: 'cut-before-headers'; readonly by?: CutBy; readonly done?: Done };

/** The client gets another answer than the API's. Never carried out when not told otherwise. */
export type ReplacingFault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly retryAfter?: RetryAfter;
      readonly headers?: Readonly<Record<string, string>>;
      /** An error body of the service when not given. */
      readonly body?: string;
      readonly done?: Done;
    }
  | { readonly kind: 'html'; readonly status?: number; readonly body?: string; readonly done?: Done }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number; readonly done?: Done };

/** The request is carried out, and its answer comes late or damaged. */
export type DamagingFault =
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'hang-mid-body' }
  /** The headers at once, then one character of the body at each interval. */
  | { readonly kind: 'drip'; readonly intervalMs: number }
  | { readonly kind: 'cut-mid-body'; readonly framing?: Framing; readonly by?: CutBy }
  | { readonly kind: 'bad-json' }
  | { readonly kind: 'empty-body' }
  | { readonly kind: 'endless-body' }
  /** This answer is whole, but its socket is closed just as the next request arrives on it. */
  | { readonly kind: 'close-on-next-request' };

/** `length`: with Content-Length. */
export type Framing = 'length' | 'chunked';

export type Fault = LostFault | ReplacingFault | DamagingFault;

export interface FaultRule<F = Fault> {
  readonly fault: F;
  /** All when not given, also what is no endpoint. */
  readonly endpoint?: Endpoint | 'any';
  /** Only requests whose path and query hold this text, for instance the id of one operation. */
  readonly path?: string;
  /** Only this one of the matching exchanges, counted from 1, from the moment the rule was added. */
  readonly nth?: number;
  /** From this one of them on. */
  readonly from?: number;
  /** From there, only each so-manieth. */
  readonly every?: number;
  /** Of those, each with this chance, drawn from the plan's seed. */
  readonly probability?: number;
  /** At most so often. */
  readonly count?: number;
}

export interface ExchangeFacts {
  readonly endpoint: Endpoint | 'other';
  readonly target: string;
}

interface ActiveRule<F> {
  readonly rule: FaultRule<F>;
  readonly random: Random;
  matched: number;
  struck: number;
}

/** Decides which exchange meets which fault. Knows nothing of how a fault is brought about. */
export class FaultPlan<F = Fault> {
  readonly #seed: number;
  #rules: readonly ActiveRule<F>[] = [];
  #added = 0;

  constructor(seed: number, rules: readonly FaultRule<F>[] = []) {
    this.#seed = seed;
    for (const rule of rules) this.add(rule);
  }

  /** What is returned takes the rule away again. */
  add(rule: FaultRule<F>): () => void {
    // A generator for each rule: one rule's chances do not hang on which other rules there are.
    const active = { rule, random: seededRandom(this.#seed + 7919 * ++this.#added), matched: 0, struck: 0 };
    this.#rules = [...this.#rules, active];
    return () => {
      this.#rules = this.#rules.filter((other) => other !== active);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** Every rule counts every exchange; the first that strikes wins. */
  decide(exchange: ExchangeFacts): F | undefined {
    let decided: F | undefined;
    for (const active of this.#rules) {
      if (!matches(active.rule, exchange)) continue;
      active.matched++;
      if (decided !== undefined || !strikes(active)) continue;
      active.struck++;
      decided = active.rule.fault;
    }
    return decided;
  }
}

function matches({ endpoint = 'any', path = '' }: FaultRule<unknown>, exchange: ExchangeFacts): boolean {
  return (endpoint === 'any' || endpoint === exchange.endpoint) && exchange.target.includes(path);
}

function strikes({ rule, random, matched, struck }: ActiveRule<unknown>): boolean {
  const { nth, from = 1, every = 1, probability = 1, count = Number.POSITIVE_INFINITY } = rule;
  if (nth !== undefined) return matched === nth;
  if (matched < from || (matched - from) % every !== 0 || struck >= count) return false;
  return probability === 1 || random() < probability;
}
