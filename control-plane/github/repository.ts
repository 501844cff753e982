export interface Run {
  /** Digits: it may be beyond 2^53. */
  readonly id: string;
  readonly attempt: number;
  readonly status: string;
  readonly conclusion: string | null;
}

/** The repository that the token can read, with its runs. */
export class Repository {
  readonly id: string;
  readonly #fullName: string | undefined;
  readonly #runs = new Map<string, Run>();

  /** Without a name, each name is that of the repository. */
  constructor(fullName: string | undefined, id: string) {
    this.#fullName = fullName;
    this.id = id;
  }

  isNamed(fullName: string): boolean {
    return this.#fullName === undefined || fullName.toLowerCase() === this.#fullName.toLowerCase();
  }

  /** Default: in progress, first attempt. Replaces a run with the same id. */
  addRun(fields: Partial<Run> & Pick<Run, 'id'>): void {
    if (!/^[1-9]\d*$/.test(fields.id)) throw new Error(`An id is digits, not ${JSON.stringify(fields.id)}.`);
    this.#runs.set(fields.id, { attempt: 1, status: 'in_progress', conclusion: null, ...fields });
  }

  run(id: string): Run | undefined {
    return this.#runs.get(id);
  }
}
