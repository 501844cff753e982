import { fieldTime, type Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';

/** A wait is for the operations with given ids, or for all unfinished operations that a filter admits. */
export type Target =
  | { readonly ids: readonly string[] }
  | {
      readonly all: Filter;
      /** Milliseconds before the wait. An operation created in this time counts even if it has ended. */
      readonly since?: number | undefined;
    };

export interface TrackedOperation {
  readonly id: string;
  readonly projectId: string;
  /** The latest version from the service. Undefined until the service returns the operation. */
  readonly operation: Operation | undefined;
}

/** An operation that the service has not returned yet counts as pending. */
export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

/** The operations of one project that a wait tracks, each with its latest status. */
export class TrackedOperations {
  readonly #projectId: string;
  readonly #all = new Map<string, TrackedOperation>();
  readonly #pending = new Set<string>();
  #hasFailed = false;

  constructor(target: Target, projectId: string) {
    this.#projectId = projectId;
    for (const id of 'ids' in target ? target.ids : []) {
      this.#all.set(id, { id, projectId, operation: undefined });
      this.#pending.add(id);
    }
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  get all(): readonly TrackedOperation[] {
    return [...this.#all.values()];
  }

  /** Ids of the pending operations. Every response needs them, so they are not computed each time. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id)?.operation;
  }

  /** Stores the operation. Returns true if its status changed. */
  update(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // A terminal status never changes, but a slow parallel response may contain an older status.
    if (before !== undefined && phaseForStatus(before.status) !== 'pending') return false;
    this.#all.set(id, { id, projectId: this.#projectId, operation });
    const phase = phaseForStatus(status);
    if (phase === 'pending') this.#pending.add(id);
    else this.#pending.delete(id);
    if (phase === 'failed') this.#hasFailed = true;
    return before?.status !== status;
  }
}

/** Returns the creation time in milliseconds since 1970, or `fallback` if the creation time is unknown. */
export function creationTime(operation: Operation | undefined, fallback: number): number {
  return (operation && fieldTime(operation, 'created_at')) ?? fallback;
}
