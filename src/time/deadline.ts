import type { Clock } from './clock.js';

/**
 * Calls each listener once, on cancellation. A long wait adds thousands of listeners. With an AbortController in its place,
 * a simulated wait took twice the time (`npm run bench`).
 */
export class Cancellation {
  readonly #listeners = new Set<() => void>();
  #isCancelled = false;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** The returned function removes the listener. */
  onCancel(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The deadline expired before the result was known. */
export class DeadlineExceeded extends Error {
  /** `cause`: the last error, if retries took up the time. */
  constructor(cause?: unknown) {
    super('The deadline was exceeded.', { cause });
  }
}

/** The step was cancelled. */
export class CancelledError extends Error {
  constructor() {
    super('The step was cancelled.');
  }
}

/** Registers a callback that runs when the work is cancelled or its deadline expires. */
export type OnCancel = (listener: () => void) => void;

/** A point in time together with the cancellation of the step. Everything that takes time gets one as an argument. */
export class Deadline {
  constructor(
    readonly clock: Clock,
    readonly expiresAt: number,
    readonly cancellation: Cancellation,
  ) {}

  get remaining(): number {
    return Math.max(0, this.expiresAt - this.clock.now());
  }

  get isUnbounded(): boolean {
    return this.expiresAt === Number.POSITIVE_INFINITY;
  }

  get isExpired(): boolean {
    return this.remaining === 0;
  }

  /** A deadline that expires after `ms` milliseconds, or with this one if that is earlier. */
  within(ms: number): Deadline {
    return new Deadline(this.clock, Math.min(this.expiresAt, this.clock.now() + ms), this.cancellation);
  }

  /**
   * Settles with the work, or rejects with `DeadlineExceeded` or `CancelledError`, whichever comes first. It does not wait for
   * work that ignores its callbacks. So no socket or proxy can delay the step.
   */
  race<T>(work: (onCancel: OnCancel) => Promise<T>): Promise<T> {
    if (this.cancellation.isCancelled) return Promise.reject(new CancelledError());
    if (this.isExpired) return Promise.reject(new DeadlineExceeded());
    return new Promise<T>((resolve, reject) => {
      const listeners: (() => void)[] = [];
      const working = work((listener) => listeners.push(listener));
      const fail = (reason: unknown) => {
        clearTimer();
        removeListener();
        reject(reason);
      };
      const interrupt = (reason: Error) => {
        fail(reason);
        for (const listener of listeners) listener();
      };
      const clearTimer = this.clock.schedule(this.expiresAt, () => interrupt(new DeadlineExceeded()));
      const removeListener = this.cancellation.onCancel(() => interrupt(new CancelledError()));
      working.then((result) => {
        clearTimer();
        removeListener();
        resolve(result);
      }, fail);
    });
  }

  /** Sleeps for `ms` milliseconds. If the deadline comes first, sleeps until then and rejects with `DeadlineExceeded`. */
  sleep(ms: number): Promise<void> {
    return this.race(
      (onCancel) => new Promise((resolve) => onCancel(this.clock.schedule(this.clock.now() + ms, resolve))),
    );
  }
}
