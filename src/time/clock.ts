/** The clock is passed in, so that a test of an hour's wait takes milliseconds. */
export interface Clock {
  /** Milliseconds since the step began. Monotonic. */
  now(): number;
  /** Milliseconds since 1970, to compare with timestamps of the service. */
  epochMs(): number;
  /** Calls `callback` once, when `now()` reaches `time`. The returned function cancels the call. */
  schedule(time: number, callback: () => void): () => void;
}

/** Milliseconds. Node fires a longer timer after 1 ms: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
export const longestTimer = 2 ** 31 - 1;

/** `now()` counts from the start of the process, so the step's deadline includes the time to load the bundle. */
export const systemClock: Clock = {
  // performance.now() would load another module at start.
  now: () => process.uptime() * 1_000,
  epochMs: () => Date.now(),
  schedule(time, callback) {
    let timer: NodeJS.Timeout;
    // Node's timers can fire a little early.
    const ring = () => (systemClock.now() < time ? arm() : callback());
    const arm = () => {
      timer = setTimeout(ring, Math.min(longestTimer, Math.ceil(Math.max(0, time - systemClock.now()))));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
