/**
 * A copy of the data that lags behind. Each request gets its answer from one of them, by chance; what it changes is true at
 * once, and the copies show it later.
 */
export interface Replica {
  readonly operationsBehindMs: number;
  /** Keys that existed when the service started are known everywhere. */
  readonly keysBehindMs: number;
  /** A new copy lacks old operations until so long after the start of the service. */
  readonly historyAfterMs: number;
}

export const upToDate: Replica = { operationsBehindMs: 0, keysBehindMs: 0, historyAfterMs: 0 };

/** A new copy has the operations of the last minute from the start. */
export const recentMs = 60_000;
