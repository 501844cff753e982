import type { Filter } from '../lists/filter.js';

/** The ids that were given, or all unfinished operations that the filter admits. */
export type Target =
  | { readonly ids: readonly string[] }
  | {
      readonly all: Filter;
      /** Milliseconds. Operations that were created within this time before the start count even if they have ended. */
      readonly since?: number | undefined;
    };
