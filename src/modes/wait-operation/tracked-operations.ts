import type { Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';

export interface TrackedOperation {
  readonly id: string;
  readonly projectId: string;
  /** The latest version. Undefined until the service returns the operation. */
  readonly operation: Operation | undefined;
}

/** An operation counts as pending until the service returns it. */
export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

/** The operations of one project that a wait tracks, each with its latest status. */
export class TrackedOperations {
  /** Ids of the pending operations. This set is kept up to date, because a long wait needs it after every response. */
  readonly pending: Set<string>;
  hasFailed = false;
  readonly #all: Map<string, TrackedOperation>;

  constructor(
    givenIds: readonly string[],
    private readonly projectId: string,
  ) {
    this.pending = new Set(givenIds);
    this.#all = new Map(givenIds.map((id) => [id, { id, projectId, operation: undefined }]));
  }

  get all(): readonly TrackedOperation[] {
    return [...this.#all.values()];
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id)?.operation;
  }

  /** Moves a requested id to the end. So each poll begins with the operations that have waited longest. */
  moveToEnd(id: string): void {
    if (this.pending.delete(id)) this.pending.add(id);
  }

  /** Stores the operation. Returns true if its status changed. */
  update(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // A terminal status never changes, but a slow parallel response may contain an older status.
    if (before !== undefined && phaseForStatus(before.status) !== 'pending') return false;
    this.#all.set(id, { id, projectId: this.projectId, operation });
    const phase = phaseForStatus(status);
    if (phase === 'pending') this.pending.add(id);
    else this.pending.delete(id);
    if (phase === 'failed') this.hasFailed = true;
    return before?.status !== status;
  }
}
