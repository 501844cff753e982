import type { FindRun, LookupFailure, RunState } from '../../src/modes/sweep-keys/workflow-runs.js';
import { CancelledError } from '../../src/time/deadline.js';

/** A run as GitHub shows it, no such run, no response at all, or why the lookup failed. */
export type KnownRun = RunState | 'gone' | 'hangs' | LookupFailure | Error;

export const ownRun = '9876543210';

/** GitHub as a sweep sees it: workflow runs by their id. An unknown run is gone. */
export class FakeWorkflowRuns {
  readonly lookups: string[] = [];
  maxConcurrent = 0;
  readonly #known = new Map<string, (attempt: number) => KnownRun>();
  #pending = 0;

  /** `sleep`: each lookup takes 40 ms. */
  constructor(private readonly sleep: (ms: number) => Promise<void>) {
    this.set(ownRun, { attempt: 1, isCompleted: false });
  }

  /** A function tells it for each lookup of the run, counted from 1. */
  set(id: string, known: KnownRun | ((attempt: number) => KnownRun)): void {
    this.#known.set(id, typeof known === 'function' ? known : () => known);
  }

  readonly find: FindRun = async (id, onCancel) => {
    this.lookups.push(id);
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#pending);
    const attempt = this.lookups.filter((looked) => looked === id).length;
    const cancelled = new Promise<never>((_, reject) => onCancel(() => reject(new CancelledError())));
    cancelled.catch(() => undefined);
    const known = await Promise.race([this.sleep(40), cancelled])
      .then(() => this.#known.get(id)?.(attempt) ?? 'gone')
      .finally(() => this.#pending--);
    if (known === 'hangs') return cancelled;
    if (known instanceof Error) throw known;
    return known;
  };
}
