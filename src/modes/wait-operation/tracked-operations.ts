import type { Operation } from '../../api/records.js';
import { phaseForStatus } from '../operations.js';
import { endOf, judge, type ListRead } from './judge.js';
import { Quiet } from './quiet.js';
import type { Target } from './settings.js';

export interface TrackedOperation {
  readonly id: string;
  readonly projectId: string;
  /** As last seen; after its end, as it ended. Undefined until the service returns it. */
  readonly operation: Operation | undefined;
}

const phaseOf = ({ operation }: TrackedOperation) => phaseForStatus(operation?.status ?? '');
export const isPending = (one: TrackedOperation) => phaseOf(one) === 'pending';
export const isFailed = (one: TrackedOperation) => phaseOf(one) === 'failed';

/** A failure that only its time excludes is told if it is not older than this. In milliseconds. */
export const recentAge = 600_000;

/** What counts in one project, each with its latest status: the given ids, or what `judge` says. */
export class TrackedOperations {
  /** Ids not seen to end. This set is kept up to date, because a long wait needs it after every response. */
  readonly pending = new Set<string>();
  hasFailed = false;
  /** Only their time excludes them. */
  readonly recentFailures = new Map<string, Operation>();
  /** Undefined until it is whole. */
  firstRead: ListRead | undefined;
  quiet = Quiet.none;
  readonly #all = new Map<string, TrackedOperation>();

  /** `start`: returns the start of the step in milliseconds since 1970, on the service's clock. */
  constructor(
    private readonly projectId: string,
    private readonly target: Target,
    private readonly start: () => number,
  ) {
    if ('all' in target) return;
    for (const id of target.ids.get(projectId) ?? []) {
      this.#all.set(id, { id, projectId, operation: undefined });
      this.pending.add(id);
    }
    for (const operation of target.seen?.get(projectId) ?? []) this.take(operation);
  }

  get all(): readonly TrackedOperation[] {
    return [...this.#all.values()];
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id)?.operation;
  }

  /** Takes an answer. Returns true if the status of an operation that counts has changed. */
  take(operation: Operation): boolean {
    const { id, status } = operation;
    if ('all' in this.target) this.target.all.note(operation.record);
    const known = this.#all.get(id);
    if (known === undefined && !this.#counts(operation)) return false;
    const phase = phaseForStatus(status);
    if (known === undefined || phase === 'pending') this.quiet = this.quiet.disturbed();
    // A slow response or an older replica may show an operation running again. An end that was seen stays.
    if (known !== undefined && !isPending(known)) return false;
    this.#all.set(id, { id, projectId: this.projectId, operation });
    if (phase === 'pending') this.pending.add(id);
    else this.pending.delete(id);
    this.hasFailed ||= phase === 'failed';
    return known?.operation?.status !== status;
  }

  #counts(operation: Operation): boolean {
    if ('ids' in this.target) return false;
    const start = this.start();
    const judgement = judge(operation, this.firstRead, start - this.target.since, this.target.all);
    const isFailure = phaseForStatus(operation.status) === 'failed';
    if (judgement === 'history' && isFailure && endOf(operation) >= start - recentAge)
      this.recentFailures.set(operation.id, operation);
    return judgement === 'counts';
  }

  /** A whole read of the list has ended. */
  endRead(read: ListRead, endedAt: number): void {
    this.firstRead ??= read;
    this.quiet = this.quiet.afterRead({ beganAt: read.beganAt, endedAt, allEnded: this.pending.size === 0 });
  }
}
