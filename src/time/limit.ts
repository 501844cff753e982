import type { Clock } from './clock.js';
import type { Stop } from './stop.js';

/** The time is up: nothing that was asked for is known to be true. */
export class TimeUp extends Error {
  /** `cause`: what failed last, if that is why it took so long. */
  constructor(cause?: unknown) {
    super('The time is up.', { cause });
  }
}

/** Somebody called it off. */
export class Cancelled extends Error {
  constructor() {
    super('The step was cancelled.');
  }
}

/** Takes what is to be done when the work is to stop. */
export type OnStop = (call: () => void) => void;

/** Until when something may go on, and whether it was called off: one value that is handed down to all that takes time. */
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

  /** The same, but over in `ms` at the latest. */
  within(ms: number): Limit {
    return new Limit(this.clock, Math.min(this.at, this.clock.now() + ms), this.cancel);
  }

  /**
   * Ends with the work, or with `TimeUp` or `Cancelled`, whichever comes first. Work that does not heed the stop is left
   * behind: what a socket or a proxy does, or does not do, never holds the step up.
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

  /** Sleeps; where the limit strikes first, it sleeps until then and ends with `TimeUp`. */
  sleep(ms: number): Promise<void> {
    return this.run((onStop) => new Promise((resolve) => onStop(this.clock.at(this.clock.now() + ms, resolve))));
  }
}
