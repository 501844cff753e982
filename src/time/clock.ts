/** Tests pass a virtual clock, so that an hour-long wait takes milliseconds. */
export interface Clock {
  /** Milliseconds since the start of the step. The value never decreases. */
  now(): number;
  /** Milliseconds since 1970, to compare with timestamps from the service. */
  epochMs(): number;
  /** Calls `callback` once, when `now()` reaches `time`. The returned function cancels the call. */
  schedule(time: number, callback: () => void): () => void;
  /** Resolves once all signals that have arrived are handled. During long work, Node handles none. */
  turn(): Promise<void>;
}

/** If a delay exceeds this, a timer fires after 1 ms: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
export const longestTimer = 2 ** 31 - 1;

/** `now()` counts from the start of the process, so the deadline includes the time to load the bundle. */
export const systemClock: Clock = {
  // process.uptime() is faster at the start of the process: performance.now() would load another module.
  now: () => process.uptime() * 1_000,
  epochMs: () => Date.now(),
  schedule(time, callback) {
    let timer: NodeJS.Timeout;
    // A Node timer can fire a little early, and a long delay needs more than one timer.
    const ring = () => (systemClock.now() < time ? arm() : callback());
    const arm = () => {
      timer = setTimeout(ring, Math.min(longestTimer, Math.ceil(Math.max(0, time - systemClock.now()))));
    };
    arm();
    return () => clearTimeout(timer);
  },
  // Node handles signals between two turns. So the second turn comes after all signals that arrived before the first.
  turn: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
};
