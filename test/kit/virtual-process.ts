import { Secrets } from '../../src/action/secrets.js';
import { shielded, type Toolkit } from '../../src/action/toolkit.js';
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
export function startVirtualProcess(options: VirtualProcessOptions) {
  const { work, clock, exchange, toolkit: ofRunner, environment, random, clockAheadMs, limitMs } = options;
  const startedAt = clock.now();
  const cancellation = new Cancellation();
  const pending = new Set<() => void>();
  let isOver = false;
  let isReported = false;
  let crash: string | undefined;
  let signalledAt: number | undefined;
  let resolve: (exit: VirtualExit) => void = () => undefined;

  function kill(exit: VirtualExit = 'killed'): void {
    if (isOver) return;
    isOver = true;
    for (const giveUp of pending) giveUp();
    resolve(exit);
  }

  function finish(succeeded: boolean): void {
    isReported = true;
    kill(succeeded ? 0 : 1);
  }

  async function report(error: unknown): Promise<void> {
    if (isReported || isOver) return;
    isReported = true;
    crash = String(error instanceof Error ? error.stack : error);
    const succeeded = await work.reportError(error, world).catch((failure: unknown) => {
      toolkit.error(`The step could not report its result: ${failure}`);
      return false;
    });
    finish(succeeded);
  }

  /** A timer that throws is an uncaught exception of Node. */
  function guard(call: () => void): void {
    if (isOver) return;
    try {
      call();
    } catch (error) {
      void report(error);
    }
  }

  type Call = (...args: never[]) => unknown;
  // Once the process is over, nothing of it reaches the runner.
  const guarded = Object.entries(ofRunner).map(([name, call]: [string, Call]) => [
    name,
    (...args: never[]) => (isOver ? undefined : call(...args)),
  ]);
  const toolkit: Toolkit = { ...Object.fromEntries(guarded), input: ofRunner.input };
  const secrets = new Secrets(toolkit.mask);
  const world: World = {
    toolkit: shielded(toolkit, secrets),
    secrets,
    environment,
    random,
    isReported: () => isReported,
    cancellation,
    clock: {
      now: () => clock.now() - startedAt,
      epochMs: () => Math.floor(clock.epochMs() + clockAheadMs),
      schedule: (time, call) => clock.schedule(notBefore(time, startedAt), () => guard(call)),
      turn: () => clock.turn(),
    },
    exchange: async (request, onCancel) => {
      const never = new Promise<never>(() => undefined);
      if (isOver) return never;
      const response = exchange(request, (giveUp) => {
        pending.add(giveUp);
        onCancel(giveUp);
      });
      await response.catch(() => undefined);
      return isOver ? never : response;
    },
  };
  const ended = new Promise<VirtualExit>((settle) => {
    resolve = settle;
  });
  void ended.then(clock.schedule(startedAt + limitMs, () => kill('hung')));
  // The first message may come at once, and the owner may kill the process at it: by then it must hold this object.
  const running = Promise.resolve().then(() => work.run(world));
  void running.then((succeeded) => (isReported ? undefined : finish(succeeded)), report);
  return {
    ended,
    kill,
    /** A signal waits for its turn, as in Node. */
    signal: () =>
      void clock.schedule(clock.now(), () =>
        guard(() => {
          signalledAt ??= clock.now();
          cancellation.cancel();
        }),
      ),
    get signalledAt() {
      return signalledAt;
    },
    get isOver() {
      return isOver;
    },
    /** Stack of the error that ended the work. */
    get crash() {
      return crash;
    },
  };
}

/** The sum, rounded up: like the real clock, this one must not call back before `now()` has reached the time. */
function notBefore(time: number, startedAt: number): number {
  let sum = startedAt + time;
  while (sum - startedAt < time) sum *= 1 + Number.EPSILON;
  return sum;
}
