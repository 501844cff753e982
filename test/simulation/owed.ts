// The operations of one project that a wait for all owes, in the words of the contract. Times are milliseconds of the run.

/** An operation in truth. One that follows another stands behind it. */
export interface Life {
  readonly id: string;
  readonly begins: number;
  readonly ends: number;
  readonly follows: string | undefined;
  /** From then on, a read of the list must show it. */
  readonly listedFrom: number;
}

/** A response that reached the client. */
export interface Answer {
  readonly sentAt: number;
  /** Number of the read that the page belongs to, or undefined for a single request. */
  readonly read: number | undefined;
  /** Undefined: the request failed. */
  readonly shown: readonly { readonly id: string; readonly hasEnded: boolean }[] | undefined;
}

/** What the answers about a project showed. `begun`: all operations that a read may show. */
export function viewOf(answers: readonly Answer[], begun: readonly Pick<Life, 'id' | 'begins'>[]) {
  const failed = new Set(answers.flatMap(({ read, shown }) => (shown === undefined ? [read] : [])));
  const pages = answers.filter(({ read }) => read !== undefined && !failed.has(read));
  const idsOf = (some: readonly Answer[]) => some.flatMap(({ shown = [] }) => shown.map(({ id }) => id));
  const first = new Set(idsOf(pages.filter(({ read }) => read === pages[0]?.read)));
  const oldest = Math.min(...begun.filter(({ id }) => first.has(id)).map(({ begins }) => begins));
  const all = answers.flatMap(({ shown = [] }) => shown);
  return {
    first,
    hasRead: pages.length > 0,
    shown: new Set(all.map(({ id }) => id)),
    unfinished: new Set(all.flatMap(({ id, hasEnded }) => (hasEnded ? [] : [id]))),
    /** When the last read began. */
    lastReadAt: pages.find(({ read }) => read === pages.at(-1)?.read)?.sentAt ?? Number.NEGATIVE_INFINITY,
    isNew: ({ id, begins }: Life) =>
      pages.length > 0 && !first.has(id) && (oldest === Number.POSITIVE_INFINITY || begins >= oldest),
  };
}

export type View = ReturnType<typeof viewOf>;

/** Whether the operation counts. `since` and `until`: what ended between them does. */
export function counts(life: Life, { unfinished, isNew }: View, since: number, until: number): boolean {
  return unfinished.has(life.id) || isNew(life) || (life.ends >= since && life.ends <= until);
}

/**
 * Those which no success may miss: each that counts and was shown, or stood in the list when the last read began, and each
 * follow-up of one of them that had begun by then.
 */
export function owedOf<L extends Life>(lives: readonly L[], view: View, since: number, until: number): L[] {
  const owed = new Map<string, L>();
  for (const life of lives) {
    const isListed = life.listedFrom <= view.lastReadAt;
    const isDue = life.begins <= view.lastReadAt && owed.has(life.follows ?? '');
    if (counts(life, view, since, until) && (view.shown.has(life.id) || isListed || isDue)) owed.set(life.id, life);
  }
  return [...owed.values()];
}
