/** The clock is passed in, so that a test of an hour's wait takes milliseconds. */
export interface Clock {
  /** Milliseconds since the step began. Monotonic. */
  now(): number;
  /** Milliseconds since 1970, to compare with timestamps of the service. */
  date(): number;
  /** Calls `call` once, when `now()` reaches `time`. The returned function cancels the call. */
  at(time: number, call: () => void): () => void;
}

// Node fires a longer timer after 1 ms: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args
const longestTimer = 2 ** 31 - 1;

/** `now()` counts from the start of the process, so the step's deadline includes the time to load the bundle. */
export const systemClock: Clock = {
  // performance.now() would load another module at start.
  now: () => process.uptime() * 1_000,
  date: () => Date.now(),
  at(time, call) {
    let timer: NodeJS.Timeout;
    // Node's timers can fire a little early.
    const ring = () => (systemClock.now() < time ? arm() : call());
    const arm = () => {
      timer = setTimeout(ring, Math.min(longestTimer, Math.ceil(Math.max(0, time - systemClock.now()))));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
