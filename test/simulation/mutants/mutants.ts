/** A defect that somebody could make: a place in `src`, and what would stand there. */
export interface Mutant {
  readonly name: string;
  readonly defect: string;
  readonly file: string;
  /** Found once in the file, else the mutant is out of date. */
  readonly replace: string;
  readonly by: string;
}

export const mutants: readonly Mutant[] = [];
