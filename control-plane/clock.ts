/** The control plane's only source of time. A test can replace it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after the delay. Returns a function that cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** A longer delay makes Node's timers fire at once. */
const longestDelayMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, longestDelayMs));
    return () => clearTimeout(timer);
  },
};
