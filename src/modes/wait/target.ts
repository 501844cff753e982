import type { Filter } from '../lists/filter.js';

/** What is waited for: the ids that were given, or every unfinished operation that the filter admits. */
export type Target = { readonly ids: readonly string[] } | { readonly all: Filter; readonly failOnEmpty: boolean };
