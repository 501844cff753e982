import type { Clock as ServiceClock } from '../../control-plane/index.js';
import type { Clock } from '../../src/time/clock.js';

/** Time that passes only when all work of a moment is done, and then jumps to the next appointment. */
export class VirtualClock implements Clock {
  /** The same time for the control plane, which counts from 1970. */
  readonly service: ServiceClock = {
    now: () => this.epochMs(),
    schedule: (delayMs, callback) => this.schedule(this.#now + delayMs, callback),
  };
  /** The next one is the last. Of two at the same time, the older one is called first. */
  readonly #appointments: { readonly time: number; readonly call: () => void }[] = [];
  #now = 0;

  constructor(private readonly epoch: number = Date.UTC(2024, 0, 1)) {}

  now(): number {
    return this.#now;
  }

  epochMs(): number {
    return this.epoch + this.#now;
  }

  async turn(): Promise<void> {}

  schedule(time: number, call: () => void): () => void {
    // An infinite time never comes.
    if (time === Number.POSITIVE_INFINITY) return () => undefined;
    const appointments = this.#appointments;
    const appointment = { time: Math.max(time, this.#now), call };
    appointments.splice(appointments.findLastIndex((other) => other.time > appointment.time) + 1, 0, appointment);
    return () => {
      const index = appointments.indexOf(appointment);
      if (index >= 0) appointments.splice(index, 1);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule(this.#now + ms, resolve));
  }

  /**
   * Lets time pass until the work has ended. Rejects when nothing is left to happen: the work would wait for ever.
   * `besideSockets`: something real may still happen, and takes no virtual time.
   */
  run<T>(work: Promise<T>, { besideSockets = false } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let ended = false;
      work.then(resolve, reject).finally(() => {
        ended = true;
      });
      // Node runs all that is ready, promises included, between two of these.
      const turn = () => {
        if (ended) return;
        const next = this.#appointments.pop();
        if (next === undefined && !besideSockets) {
          reject(new Error('Nothing is left to happen, and the work has not ended.'));
          return;
        }
        this.#now = next?.time ?? this.#now;
        next?.call();
        setImmediate(turn);
      };
      setImmediate(turn);
    });
  }
}
