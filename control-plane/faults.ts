import { type Random, seededRandom } from './random.js';
import type { Endpoint } from './routes.js';

/** Whether the request is carried out. `msAfterGivenUp`: so long after one side gave the connection up, as behind a dead proxy. */
export type Done = 'now' | 'never' | { readonly msAfterGivenUp: number };

export type RetryAfter = { readonly seconds: number } | { readonly dateInSeconds: number };

/** How a connection is cut: closed as by a server that ends, or reset. */
export type CutBy = 'close' | 'reset';

/** The client gets no response. By default the request is carried out at once, and only its response is lost. */
export type LostFault =
  | { readonly kind: 'hang-before-headers'; readonly done?: Done }
  | { readonly kind: 'cut-before-headers'; readonly by?: CutBy; readonly done?: Done };

/** The client gets another response than the API's. By default the request is never carried out. */
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

/** The request is carried out, and its response comes late or damaged. */
export type DamagingFault =
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'hang-mid-body' }
  /** The headers at once, then one character of the body at each interval. */
  | { readonly kind: 'drip'; readonly intervalMs: number }
  | { readonly kind: 'cut-mid-body'; readonly framing?: Framing; readonly by?: CutBy }
  | { readonly kind: 'bad-json' }
  | { readonly kind: 'empty-body' }
  | { readonly kind: 'endless-body' }
  /** Older operations or projects are left out, and the response says that there are more, but not how to get them. */
  | { readonly kind: 'partial-list'; readonly announcedBy: 'link' | 'next_cursor' | 'unavailable_project_ids' }
  /** This response is whole, but its socket closes when the next request arrives on it. */
  | { readonly kind: 'close-on-next-request' };

/** `length`: with Content-Length. */
export type Framing = 'length' | 'chunked';

export type Fault = LostFault | ReplacingFault | DamagingFault;

export interface FaultRule<F = Fault> {
  readonly fault: F;
  /** Default: all, and also unknown paths. */
  readonly endpoint?: Endpoint | 'any';
  /** Only requests whose path and query hold this text, for instance the id of one operation. */
  readonly path?: string;
  /** Only requests with this API key. */
  readonly by?: string;
  /** Only this one of the matching exchanges, counted from 1, from the moment the rule was added. */
  readonly nth?: number;
  /** From this one of them on. */
  readonly from?: number;
  /** Of those, each with this chance, drawn from the plan's seed. */
  readonly probability?: number;
  /** At most so often. */
  readonly count?: number;
}

export interface ExchangeFacts {
  readonly endpoint: Endpoint | 'other';
  readonly target: string;
  readonly authorization?: string | undefined;
}

interface ActiveRule<F> {
  readonly rule: FaultRule<F>;
  readonly random: Random;
  matched: number;
  hits: number;
}

/** Decides which fault hits which exchange. */
export class FaultPlan<F = Fault> {
  readonly #seed: number;
  #rules: readonly ActiveRule<F>[] = [];
  #added = 0;

  constructor(seed: number, rules: readonly FaultRule<F>[] = []) {
    this.#seed = seed;
    for (const rule of rules) this.add(rule);
  }

  /** Returns a function that removes the rule. */
  add(rule: FaultRule<F>): () => void {
    // A generator for each rule: its chances do not depend on other rules.
    const active = { rule, random: seededRandom(this.#seed + 7919 * ++this.#added), matched: 0, hits: 0 };
    this.#rules = [...this.#rules, active];
    return () => {
      this.#rules = this.#rules.filter((other) => other !== active);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** Every rule counts every exchange; the first rule that hits wins. */
  decide(exchange: ExchangeFacts): F | undefined {
    let decided: F | undefined;
    for (const active of this.#rules) {
      if (!matches(active.rule, exchange)) continue;
      active.matched++;
      if (decided !== undefined || !isHit(active)) continue;
      active.hits++;
      decided = active.rule.fault;
    }
    return decided;
  }
}

function matches({ endpoint = 'any', path = '', by }: FaultRule<unknown>, exchange: ExchangeFacts): boolean {
  if (by !== undefined && exchange.authorization !== `Bearer ${by}`) return false;
  return (endpoint === 'any' || endpoint === exchange.endpoint) && exchange.target.includes(path);
}

function isHit({ rule, random, matched, hits }: ActiveRule<unknown>): boolean {
  const { nth, from = 1, probability = 1, count = Number.POSITIVE_INFINITY } = rule;
  if (nth !== undefined) return matched === nth;
  if (matched < from || hits >= count) return false;
  return probability === 1 || random() < probability;
}
