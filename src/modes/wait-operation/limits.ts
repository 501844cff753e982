// The contract promises these values. Times are in milliseconds.

// Which operations are part of a wait, and when a project is idle.

/** A list may lack a new operation at first. So only a read this long after the first one proves that a project is idle. */
export const graceForUnlisted = 5_000;
/** The first read of each list takes this many of the newest operations. With `since`, it may take more. */
export function maxFirstRead(projects: number): number {
  return projects > 10 ? 100 : 1_000;
}
/** Each later read goes back to operations created this long before the read before it, or before the wait. */
export const overlap = 60_000;
/** When all projects are idle, each list whose latest read is older than this is read once more. */
export const maxAgeOfIdleness = 10_000;
/** If a wait finds nothing to wait for, its report names the operations that failed within this time. */
export const recentFailureAge = 300_000;

// How many requests a poll sends.

/** Maximum number of requests that are open at the same time. */
export const maxConcurrentRequests = 12;
/** If a project has more pending operations than this, reads of its list replace single requests. */
export const maxPolledSingly = 2;
/** A poll reads further pages while more pending operations than this have not appeared. It requests the rest singly. */
export const maxSingle = 20;
/** Maximum number of pages that one poll reads to find pending operations. */
export const maxPages = 10;
/** Maximum number of operations of a list that one poll reads after the first read. The next poll goes on from there. */
export const maxRecords = 1_000;

// How long the pauses are.

/** The first pause of `auto`. Later pauses are 1/4 of the time waited, up to the maximum in `pace.ts`. */
export const minInterval = 500;
/** A 429 raises the interval to at most this, unless `Retry-After` is longer. */
export const maxThrottledInterval = 60_000;
/** The longest pause for a `Retry-After`, except after a 423 or 429. */
export const maxRetryAfter = 60_000;

/** By contract, a step ends at most 2 s after its deadline. The final poll gets half of these 2 s. */
export const finalPollTimeout = 1_000;

// When a request that fails is repeated or given up.

/** A request without a response for this long is sent once more, on a new connection. */
export const resendAfter = 5_000;
/**
 * Until the first response, a request that keeps failing is retried for `minPatience`. After that it is given up if it has
 * had `minAttempts` attempts, and at `maxPatience` in any case. For an unknown host, it is given up after `minAttempts`
 * attempts, however early.
 */
export const minAttempts = 5;
export const minPatience = 30_000;
export const maxPatience = 60_000;
/** How long a wait tolerates a 404 for an operation that may be new, or that was found before. */
export const graceForNotFound = { new: 5_000, seen: 30_000 };
