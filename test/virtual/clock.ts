import type { Clock as ServiceClock } from '../../control-plane/index.js';
import type { Clock } from '../../src/time/clock.js';
import { Cancellation, Deadline } from '../../src/time/deadline.js';

/** Time that passes only when all work of a moment is done, and then jumps to the next appointment. */
export class VirtualClock implements Clock {
  /** The same time for the control plane, which counts from 1970. */
  readonly service: ServiceClock = {
    now: () => this.epochMs(),
    schedule: (delayMs, callback) => this.schedule(this.#now + delayMs, callback),
  };
  /** The next one is the last. Of two at the same time, the older one is called first, unless `random` decides otherwise. */
  readonly #appointments: { readonly time: number; readonly call: () => void }[] = [];
  #now = 0;

  /** `random`, from 0 to 1: timers of Node fire up to 1 ms late, so of two at the same time either one can be first. */
  constructor(
    private readonly epoch: number = Date.UTC(2024, 0, 1),
    private readonly random = () => 1,
  ) {}

  now(): number {
    return this.#now;
  }

  epochMs(): number {
    return this.epoch + this.#now;
  }

  async turn(): Promise<void> {}

  schedule(time: number, call: () => void): () => void {
    if (time === Number.POSITIVE_INFINITY) return () => undefined;
    const appointments = this.#appointments;
    const appointment = { time: Math.max(time, this.#now), call };
    const isFirst = this.random() < 0.5;
    const isLater = (other: typeof appointment) =>
      other.time > appointment.time || (isFirst && other.time === appointment.time);
    appointments.splice(appointments.findLastIndex(isLater) + 1, 0, appointment);
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

/** A deadline of virtual time, its clock, and what cancels it. */
export function deadlineAt(expiresAt: number) {
  const [clock, cancellation] = [new VirtualClock(), new Cancellation()];
  return { clock, cancellation, deadline: new Deadline(clock, expiresAt, cancellation) };
}
