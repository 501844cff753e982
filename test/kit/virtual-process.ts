import { Secrets } from '../../src/action/secrets.js';
import type { Toolkit } from '../../src/action/toolkit.js';
import type { Exchange } from '../../src/http/exchange.js';
import type { Work, World } from '../../src/process.js';
import { Cancellation } from '../../src/time/deadline.js';
import type { VirtualClock } from '../virtual/clock.js';

export interface VirtualProcessOptions {
  readonly work: Work;
  readonly clock: VirtualClock;
  readonly exchange: Exchange;
  /** Called only while the process runs. */
  readonly toolkit: Toolkit;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly random: () => number;
  /** Milliseconds that the runner's clock is ahead of the service's. */
  readonly clockAheadMs: number;
  readonly limitMs: number;
}

export type VirtualExit = 0 | 1 | 'killed' | 'hung';

/** A process of the action without a process: `src/process.ts` in virtual time. */
export class VirtualProcess {
  readonly ended: Promise<VirtualExit>;
  /** Stack of the error that ended the work. */
  crash: string | undefined;
  isOver = false;
  readonly #cancellation = new Cancellation();
  readonly #pending = new Set<() => void>();
  readonly #world: World;
  #resolve: (exit: VirtualExit) => void = () => undefined;
  #isReported = false;

  constructor(private readonly options: VirtualProcessOptions) {
    const { work, clock, limitMs } = options;
    this.#world = this.#makeWorld(clock.now());
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    void this.ended.then(clock.schedule(clock.now() + limitMs, () => this.kill('hung')));
    // The first message may come at once, and the owner may kill the process at it: by then it must hold this object.
    const running = Promise.resolve().then(() => work.run(this.#world));
    const finish = (succeeded: boolean) => (this.#isReported ? undefined : this.#finish(succeeded));
    void running.then(finish, (error: unknown) => this.#report(error));
  }

  kill(exit: VirtualExit = 'killed'): void {
    if (this.isOver) return;
    this.isOver = true;
    // Its sockets close with it.
    for (const giveUp of this.#pending) giveUp();
    this.#resolve(exit);
  }

  /** A signal waits for its turn, as in Node. */
  signal(): void {
    const { clock, work } = this.options;
    clock.schedule(clock.now(), () => this.#guard(() => work.onSignal(this.#cancellation)));
  }

  #makeWorld(startedAt: number): World {
    const { clock, exchange, environment, random, clockAheadMs } = this.options;
    const toolkit = this.#guardedToolkit();
    return {
      toolkit,
      secrets: new Secrets(toolkit.mask),
      environment,
      random,
      isReported: () => this.#isReported,
      cancellation: this.#cancellation,
      clock: {
        now: () => clock.now() - startedAt,
        // As Date.now(), without fractions.
        epochMs: () => Math.floor(clock.epochMs() + clockAheadMs),
        schedule: (time, call) => clock.schedule(notBefore(time, startedAt), () => this.#guard(call)),
        turn: () => clock.turn(),
      },
      exchange: async (request, onCancel) => {
        const never = new Promise<never>(() => undefined);
        if (this.isOver) return never;
        const response = exchange(request, (giveUp) => {
          this.#pending.add(giveUp);
          onCancel(giveUp);
        });
        await response.catch(() => undefined);
        return this.isOver ? never : response;
      },
    };
  }

  /** Once the process is over, nothing of it reaches the runner. */
  #guardedToolkit(): Toolkit {
    type Call = (...args: never[]) => unknown;
    const guarded = Object.entries(this.options.toolkit).map(([name, call]: [string, Call]) => [
      name,
      (...args: never[]) => (this.isOver ? undefined : call(...args)),
    ]);
    return { ...Object.fromEntries(guarded), input: this.options.toolkit.input };
  }

  /** A timer that throws is an uncaught exception of Node. */
  #guard(call: () => void): void {
    if (this.isOver) return;
    try {
      call();
    } catch (error) {
      void this.#report(error);
    }
  }

  async #report(error: unknown): Promise<void> {
    if (this.#isReported || this.isOver) return;
    this.#isReported = true;
    this.crash = String(error instanceof Error ? error.stack : error);
    const succeeded = await this.options.work.reportError(error, this.#world).catch((failure: unknown) => {
      this.#world.toolkit.error(`Could not report the step's result: ${failure}`);
      return false;
    });
    this.#finish(succeeded);
  }

  #finish(succeeded: boolean): void {
    this.#isReported = true;
    this.kill(succeeded ? 0 : 1);
  }
}

/** The sum, rounded up: like the real clock, this one must not call back before `now()` has reached the time. */
function notBefore(time: number, startedAt: number): number {
  let sum = startedAt + time;
  while (sum - startedAt < time) sum *= 1 + Number.EPSILON;
  return sum;
}
