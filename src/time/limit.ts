import type { Clock } from './clock.js';
import type { Stop } from './stop.js';

/** The deadline expired before the result was known. */
export class TimeUp extends Error {
  /** `cause`: the last error, if retries took up the time. */
  constructor(cause?: unknown) {
    super('The time is up.', { cause });
  }
}

/** The step was cancelled. */
export class Cancelled extends Error {
  constructor() {
    super('The step was cancelled.');
  }
}

/** Registers a callback that runs when the work is cancelled or its deadline expires. */
export type OnStop = (call: () => void) => void;

/** A point in time together with the cancellation of the step. Everything that takes time gets one as an argument. */
export class Limit {
  constructor(
    readonly clock: Clock,
    readonly at: number,
    readonly cancel: Stop,
  ) {}

  get left(): number {
    return Math.max(0, this.at - this.clock.now());
  }

  get endless(): boolean {
    return this.at === Number.POSITIVE_INFINITY;
  }

  get struck(): boolean {
    return this.left === 0;
  }

  /** A deadline that expires after `ms` milliseconds, or with this one if that is earlier. */
  within(ms: number): Limit {
    return new Limit(this.clock, Math.min(this.at, this.clock.now() + ms), this.cancel);
  }

  /**
   * Settles with the work, or rejects with `DeadlineExceeded` or `Cancelled`, whichever comes first. It does not wait for
   * work that ignores its callbacks. So no socket or proxy can delay the step.
   */
  run<T>(work: (onStop: OnStop) => Promise<T>): Promise<T> {
    if (this.cancel.stopped) return Promise.reject(new Cancelled());
    if (this.struck) return Promise.reject(new TimeUp());
    return new Promise<T>((resolve, reject) => {
      const calls: (() => void)[] = [];
      const working = work((call) => calls.push(call));
      const fail = (reason: unknown) => {
        forgetTime();
        forgetCancel();
        reject(reason);
      };
      const stop = (reason: Error) => {
        fail(reason);
        for (const call of calls) call();
      };
      const forgetTime = this.clock.at(this.at, () => stop(new TimeUp()));
      const forgetCancel = this.cancel.on(() => stop(new Cancelled()));
      working.then((result) => {
        forgetTime();
        forgetCancel();
        resolve(result);
      }, fail);
    });
  }

  /** Sleeps for `ms` milliseconds. If the deadline comes first, sleeps until then and rejects with `DeadlineExceeded`. */
  sleep(ms: number): Promise<void> {
    return this.run((onStop) => new Promise((resolve) => onStop(this.clock.at(this.clock.now() + ms, resolve))));
  }
}
