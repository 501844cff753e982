import type { Filter } from '../lists/filter.js';

/** The ids that were given, or every unfinished operation that the filter admits. */
export type Target =
  | { readonly ids: readonly string[] }
  | {
      readonly all: Filter;
      /** Milliseconds: operations that were created within them before the start count even if they have ended. */
      readonly since?: number | undefined;
    };
