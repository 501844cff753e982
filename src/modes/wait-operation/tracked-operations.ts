import { fieldTime, type Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';

/** The ids that were given, or all unfinished operations that the filter admits. */
export type Target =
  | { readonly ids: readonly string[] }
  | {
      readonly all: Filter;
      /** Milliseconds. Operations that were created within this time before the start count even if they have ended. */
      readonly since?: number | undefined;
    };

export interface TrackedOperation {
  readonly id: string;
  readonly projectId: string;
  /** As last seen. Undefined if it was never seen. */
  readonly operation: Operation | undefined;
}

/** An operation that was never seen is pending. */
export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

/** The operations of one project that a wait tracks, each in its last known state. */
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

  /** The ids of those that `isPending`. A set of its own, because each change asks for it. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id)?.operation;
  }

  /** Returns true if the status changed. */
  update(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // A terminal status does not change again. Of two parallel requests, the slower one may bring an older status.
    if (before !== undefined && phaseForStatus(before.status) !== 'pending') return false;
    this.#all.set(id, { id, projectId: this.#projectId, operation });
    const phase = phaseForStatus(status);
    if (phase === 'pending') this.#pending.add(id);
    else this.#pending.delete(id);
    if (phase === 'failed') this.#hasFailed = true;
    return before?.status !== status;
  }
}

/** Milliseconds since 1970. `unknown`: the result if the operation or its time of creation is unknown. */
export function creationTime(operation: Operation | undefined, unknown: number): number {
  return (operation && fieldTime(operation, 'created_at')) ?? unknown;
}
