/** A mutant that no test can find: `file`, `source` and `change` as `npm run mutants` prints them. */
export interface Equivalent {
  readonly file: string;
  readonly source: string;
  readonly change: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [];
