import type { Clock as ServiceClock } from '../../control-plane/index.js';
import type { Clock } from '../../src/time/clock.js';

interface Appointment {
  readonly time: number;
  readonly call: () => void;
}

/**
 * Time that passes only when all work of a moment is done, and then jumps to the next appointment. Hours take milliseconds,
 * and the same work always takes the same course.
 */
export class VirtualClock implements Clock {
  /** The same time for the control plane, which counts from 1970. */
  readonly service: ServiceClock = {
    now: () => this.epochMs(),
    schedule: (delayMs, callback) => this.schedule(this.#now + delayMs, callback),
  };
  /** The next one is the last. Of two at the same time, the older one is called first. */
  readonly #appointments: Appointment[] = [];
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
   * Lets time pass until the work has ended; what is due later stays undone. Rejects when nothing is left to happen: the work
   * would wait for ever. Many clocks can run side by side, and share the turns of the event loop. `besideSockets`: something
   * real may still happen, and takes no virtual time.
   */
  run<T>(work: Promise<T>, { besideSockets = false } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let ended = false;
      const end = () => {
        ended = true;
      };
      work.then(end, end);
      work.then(resolve, reject);
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
