/** One line of `act --json`. */
interface Entry {
  readonly job?: string;
  readonly jobID?: string;
  readonly jobResult?: string;
  /** As act shows it to people, masked. Fields that are not named here hold what is behind the masks. */
  readonly msg: string;
}

/** What act printed, and what it thought of jobs. */
export class ActLog {
  readonly #entries: Entry[] = [];

  add(line: string): void {
    this.#entries.push(line.startsWith('{') ? (JSON.parse(line) as Entry) : { msg: line });
  }

  /** As a person would read it. */
  get text(): string {
    return this.#entries.map(({ job = 'act', msg }) => `[${job}] ${msg.trimEnd()}\n`).join('');
  }

  /** The results of a job: one for each of its matrix, none where it was not run. */
  resultsOf(jobId: string): string[] {
    return this.#entries.flatMap(({ jobID, jobResult }) => (jobID === jobId ? (jobResult ?? []) : []));
  }
}
