// The contract promises these values. Times are in milliseconds.

/** A list may lack a new operation at first. So a read proves that a project is idle only this long after the first read. */
export const graceForUnlisted = 5_000;
/** Each later read goes back to operations created this long before the last complete read, or before the wait. */
export const overlap = 60_000;
/** If a wait finds nothing to wait for, its report names the operations that failed within this time. */
export const recentFailureAge = 300_000;
/** When the last project becomes idle, the lists of the others are read again if their last read is older than this. */
export const maxAgeOfIdleness = 10_000;
/** Maximum number of requests that are open at the same time. */
export const maxConcurrentRequests = 12;

/** The first read of each list takes this many of the newest operations. With `since`, it may take more. */
export function maxFirstRead(projects: number): number {
  return projects > 10 ? 100 : 1_000;
}
