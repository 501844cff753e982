import type { Clock } from './clock.js';

/** This is not an AbortController, because a wait adds thousands of listeners. A simulated wait took twice as long with one. */
export class Cancellation {
  readonly #listeners = new Set<() => void>();
  isCancelled = false;

  cancel(): void {
    this.isCancelled = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** The returned function removes the listener. */
  onCancel(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export class DeadlineExceeded extends Error {
  /** `cause`: the last error before the deadline, if there was one. */
  constructor(cause?: unknown) {
    super('The deadline was exceeded.', { cause });
  }
}

export class CancelledError extends Error {
  override message = 'The step was cancelled.';
}

/** Registers a callback that runs when the work is cancelled or its deadline expires. */
export type OnCancel = (listener: () => void) => void;

/** A point in time, and the cancellation of the step. Every function that can take long gets a deadline as an argument. */
export class Deadline {
  constructor(
    readonly clock: Clock,
    readonly expiresAt: number,
    readonly cancellation: Cancellation,
  ) {}

  get remaining(): number {
    return Math.max(0, this.expiresAt - this.clock.now());
  }

  get isExpired(): boolean {
    return this.remaining === 0;
  }

  /** Rejects at expiry or cancellation. Does not wait for the work to stop, so no socket or proxy can delay the step. */
  race<T>(work: (onCancel: OnCancel) => Promise<T>): Promise<T> {
    if (this.cancellation.isCancelled) return Promise.reject(new CancelledError());
    if (this.isExpired) return Promise.reject(new DeadlineExceeded());
    return new Promise<T>((resolve, reject) => {
      const listeners: (() => void)[] = [];
      const working = work((listener) => listeners.push(listener));
      const interrupt = (reason: Error) => {
        cleanUp();
        reject(reason);
        for (const listener of listeners) listener();
      };
      const clearTimer = this.clock.schedule(this.expiresAt, () => interrupt(new DeadlineExceeded()));
      const removeListener = this.cancellation.onCancel(() => interrupt(new CancelledError()));
      const cleanUp = () => {
        clearTimer();
        removeListener();
      };
      working.finally(cleanUp).then(resolve, reject);
    });
  }

  /** Rejects if the deadline expired or the step was cancelled. Notices what happened during synchronous work, too. */
  async check(): Promise<void> {
    await this.clock.turn();
    await this.race(() => Promise.resolve());
  }

  /** Like `race`, but after `ms` milliseconds it resolves to undefined, unless this deadline comes first. */
  async raceFor<T>(ms: number, work: (onCancel: OnCancel) => Promise<T>): Promise<T | undefined> {
    const shorter = new Deadline(this.clock, Math.min(this.expiresAt, this.clock.now() + ms), this.cancellation);
    try {
      return await shorter.race(work);
    } catch (error) {
      if (error instanceof DeadlineExceeded && shorter.expiresAt < this.expiresAt) return undefined;
      throw error;
    }
  }

  /** Rejects with `DeadlineExceeded` if the deadline expires earlier. */
  sleep(ms: number): Promise<void> {
    return this.sleepUntil(this.clock.now() + ms);
  }

  /** Like `sleep`, but until a time on the step's clock. */
  sleepUntil(time: number): Promise<void> {
    return this.race((onCancel) => new Promise((resolve) => onCancel(this.clock.schedule(time, resolve))));
  }
}

/** Endless pauses in milliseconds. The longest is `first`, and doubles up to `most`. Each is shorter by up to half, at random. */
export function* doublingPauses({ first, most }: { first: number; most: number }, random: () => number) {
  for (let longest = first; ; longest = Math.min(most, 2 * longest)) yield longest * (0.5 + random() / 2);
}
