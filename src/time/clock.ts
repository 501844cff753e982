/** Time is a value that is passed in, so that hours of waiting are tested in milliseconds. */
export interface Clock {
  /** Milliseconds since the step began; never jumps. */
  now(): number;
  /** Milliseconds since 1970, to compare with what the service dates. */
  date(): number;
  /** Calls once, when `now()` has come to `time`. The answer calls it off. */
  at(time: number, call: () => void): () => void;
}

// Node fires a longer one at once.
const longestTimer = 2 ** 31 - 1;

/** `now()` counts from the start of the process, so that loading the bundle is part of the step's deadline. */
export const systemClock: Clock = {
  // Not performance.now(), which loads a module of its own.
  now: () => process.uptime() * 1_000,
  date: () => Date.now(),
  at(time, call) {
    let timer: NodeJS.Timeout;
    // Node's timers can be a little early.
    const ring = () => (systemClock.now() < time ? arm() : call());
    const arm = () => {
      timer = setTimeout(ring, Math.min(longestTimer, Math.ceil(Math.max(0, time - systemClock.now()))));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
