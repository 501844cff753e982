import type { Clock } from './clock.js';

/** The time is up: nothing that was asked for is known to be true. */
export class TimeUp extends Error {
  /** `cause`: what failed until then. */
  constructor(options?: ErrorOptions) {
    super('The time is up.', options);
  }
}

/** Somebody called it off. */
export class Cancelled extends Error {
  constructor() {
    super('The step was cancelled.');
  }
}

/** Until when something may go on, and whether it was called off: one value that is handed down to all that takes time. */
export class Limit {
  constructor(
    readonly clock: Clock,
    readonly at: number,
    readonly cancel: AbortSignal,
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
   * Ends with the work, or with `TimeUp` or `Cancelled`, whichever comes first. Work that does not heed its signal is left
   * behind: what a socket or a proxy does, or does not do, never holds the step up.
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const controller = new AbortController();
      const stop = (reason: Error) => {
        settle();
        reject(reason);
        controller.abort(reason);
      };
      const cancelled = () => stop(new Cancelled());
      const settle = () => {
        forgetTime();
        this.cancel.removeEventListener('abort', cancelled);
      };
      const forgetTime = this.clock.at(this.at, () => stop(new TimeUp()));
      this.cancel.addEventListener('abort', cancelled);

      if (this.cancel.aborted) cancelled();
      else if (this.struck) stop(new TimeUp());
      else work(controller.signal).finally(settle).then(resolve, reject);
    });
  }

  /** Sleeps; where the limit strikes first, it sleeps until then and ends with `TimeUp`. */
  sleep(ms: number): Promise<void> {
    return this.run(
      (signal) =>
        new Promise((resolve) => {
          const forgetTime = this.clock.at(this.clock.now() + ms, resolve);
          signal.addEventListener('abort', forgetTime);
        }),
    );
  }
}
