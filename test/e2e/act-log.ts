/** One line of `act --json`. */
interface Entry {
  readonly job?: string;
  readonly jobID?: string;
  readonly jobResult?: string;
  readonly stage?: string;
  readonly step?: string;
  readonly stepResult?: string;
  readonly raw_output?: boolean;
  readonly command?: string;
  readonly content?: string;
  /** As act shows it to people, masked. Fields that are not named here hold what is behind the masks. */
  readonly msg: string;
}

/** What act printed, and what it thought of jobs and steps. */
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
    return this.#of(jobId).flatMap(({ jobResult }) => jobResult ?? []);
  }

  /** Such as `Main ./deploy.sh: success`, in the order in which they ended. */
  stepsOf(jobId: string): string[] {
    return this.#of(jobId)
      .filter(({ stage, stepResult }) => stage !== undefined && stepResult !== undefined)
      .map(({ stage, step, stepResult }) => `${stage} ${step}: ${stepResult}`);
  }

  /** Lines that steps of the job printed. */
  linesOf(jobId: string): string[] {
    return this.#of(jobId)
      .filter(({ raw_output }) => raw_output)
      .map(({ msg }) => msg.trimEnd());
  }

  /** Messages of its annotations of this kind. */
  annotationsOf(jobId: string, kind: 'error' | 'warning'): string[] {
    return this.#of(jobId)
      .filter(({ command }) => command === kind)
      .map(({ msg }) => msg.trim());
  }

  /** Its summaries, one for each step that wrote any. */
  summariesOf(jobId: string): string[] {
    return this.#of(jobId).flatMap(({ command, content }) => (command === 'summary' ? (content ?? []) : []));
  }

  #of(jobId: string): Entry[] {
    return this.#entries.filter(({ jobID }) => jobID === jobId);
  }
}
