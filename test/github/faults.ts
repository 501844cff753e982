/** In place of the API's answer. */
export type ReplacingFault =
  /** The token lacks `actions: read`. */
  | { readonly kind: 'no-permission' }
  | { readonly kind: 'rate-limit'; readonly status?: 403 | 429; readonly resetInSeconds?: number }
  | { readonly kind: 'secondary-rate-limit'; readonly status?: 403 | 429; readonly retryAfterSeconds?: number }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An error body of the API when not given. */
      readonly body?: string;
    }
  | { readonly kind: 'html'; readonly status?: number; readonly body?: string }
  /**
   * To the same thing by the repository's id, when no location is given, as from the old name of a renamed repository. A rule
   * with the path `/repos/` does not strike the request that follows.
   */
  | { readonly kind: 'redirect'; readonly status?: number; readonly location?: string };

/** The API's answer, but damaged, late, or never. */
export type DamagingFault =
  | { readonly kind: 'bad-json' }
  | { readonly kind: 'empty-body' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'hang-before-headers' }
  | { readonly kind: 'cut-before-headers' }
  | { readonly kind: 'cut-mid-body' };

export type Fault = ReplacingFault | DamagingFault;

export interface FaultRule {
  readonly fault: Fault;
  /** Only requests whose path and query hold this text: `/runs/12` is in `/runs/123`, too. */
  readonly path?: string;
  /** Only this one of the matching requests, counted from 1, from the moment the rule was added. */
  readonly nth?: number;
  /** From this one of them on. */
  readonly from?: number;
  /** At most so often. */
  readonly count?: number;
}

interface ActiveRule {
  readonly rule: FaultRule;
  matched: number;
  struck: number;
}

/** Decides which request meets which fault. Knows nothing of how a fault is brought about. */
export class FaultPlan {
  #rules: readonly ActiveRule[] = [];

  constructor(rules: readonly FaultRule[] = []) {
    for (const rule of rules) this.add(rule);
  }

  /** What is returned takes the rule away again. */
  add(rule: FaultRule): () => void {
    const active = { rule, matched: 0, struck: 0 };
    this.#rules = [...this.#rules, active];
    return () => {
      this.#rules = this.#rules.filter((other) => other !== active);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** Every rule counts every request; the first that strikes wins. */
  decide(target: string): Fault | undefined {
    let decided: Fault | undefined;
    for (const active of this.#rules) {
      if (!target.includes(active.rule.path ?? '')) continue;
      active.matched++;
      if (decided !== undefined || !strikes(active)) continue;
      active.struck++;
      decided = active.rule.fault;
    }
    return decided;
  }
}

function strikes({ rule, matched, struck }: ActiveRule): boolean {
  const { nth, from = 1, count = Number.POSITIVE_INFINITY } = rule;
  return nth === undefined ? matched >= from && struck < count : matched === nth;
}
