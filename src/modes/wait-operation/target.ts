import type { Filter } from '../list/filter.js';

/** What to wait for: the operations with the given ids, or all unfinished operations that a filter admits. */
export type Target = { readonly ids: readonly string[] } | AllOperations;

export interface AllOperations {
  readonly all: Filter;
  /** Operations created up to this long before the wait are included even if they have ended. In milliseconds. */
  readonly since?: number | undefined;
}

export interface WaitSettings {
  /** Exactly one project if `target` names operations by their ids. */
  readonly projectIds: readonly string[];
  readonly target: Target;
  readonly failOnEmpty: boolean;
  /** In milliseconds. With `auto`, the interval grows with the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
  /** True with `timeout: 0`: sends each request once, and believes the first read of a list. */
  readonly pollsOnce: boolean;
}
