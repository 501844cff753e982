/** A workflow run. All but its id may be changed at any time; moments are milliseconds since the epoch. */
export interface Run {
  /** In digits: it may be beyond 2^53. */
  readonly id: string;
  attempt: number;
  status: string | null;
  conclusion: string | null;
  createdAt: number;
  /** Of the latest attempt. */
  startedAt: number;
  updatedAt: number;
}

/** The repository that the token can read, with its runs. */
export class Repository {
  readonly fullName: string;
  /** In digits. */
  readonly id: string;
  readonly #hasAnyName: boolean;
  readonly #runs = new Map<string, Run>();

  /** Without a name, it is found by any. */
  constructor(fullName: string | undefined, id: string) {
    this.fullName = fullName ?? 'any/repository';
    this.#hasAnyName = fullName === undefined;
    this.id = checkedId(id);
  }

  isNamed(fullName: string): boolean {
    return this.#hasAnyName || fullName.toLowerCase() === this.fullName.toLowerCase();
  }

  /** Takes the place of a run with the same id. */
  addRun(fields: Partial<Run> & { readonly id: string }, now: number): Run {
    const id = checkedId(fields.id);
    const moments = { createdAt: now, startedAt: now, updatedAt: now };
    const run: Run = { attempt: 1, status: 'in_progress', conclusion: null, ...moments, ...fields, id };
    this.#runs.set(id, run);
    return run;
  }

  run(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  removeRun(id: string): void {
    this.#runs.delete(id);
  }

  runJson(run: Run, serverUrl: string): string {
    const record = recordWithId(run.id, {
      run_attempt: run.attempt,
      status: run.status,
      conclusion: run.conclusion,
      html_url: `${serverUrl}/${this.fullName}/actions/runs/${run.id}`,
      created_at: timestamp(run.createdAt),
      run_started_at: timestamp(run.startedAt),
      updated_at: timestamp(run.updatedAt),
    });
    const repository = recordWithId(this.id, { full_name: this.fullName });
    return `${record.slice(0, -1)},"repository":${repository}}`;
  }
}

/** The digits go in as they are; JSON.stringify would round a great number. */
function recordWithId(id: string, fields: Readonly<Record<string, unknown>>): string {
  return `{"id":${id},${JSON.stringify(fields).slice(1)}`;
}

function checkedId(id: string): string {
  if (!/^[1-9]\d*$/.test(id)) throw new Error(`An id is digits, not ${JSON.stringify(id)}.`);
  return id;
}

/** In whole seconds. */
function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -5)}Z`;
}
