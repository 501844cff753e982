import type { Clock } from '../../src/time/clock.js';
import type { Clock as ServiceClock } from '../control-plane/index.js';

interface Appointment {
  readonly time: number;
  /** Of two at the same time, the older one is called first. */
  readonly n: number;
  call: (() => void) | undefined;
}

/**
 * Time that passes only when all work of a moment is done, and then jumps to the next appointment. Hours take milliseconds,
 * and the same work always takes the same course.
 */
export class VirtualClock implements Clock {
  /** The same time for the control plane, which counts from 1970. */
  readonly service: ServiceClock;
  readonly #epoch: number;
  readonly #appointments = new Heap();
  #now = 0;
  #count = 0;
  #cancelled = 0;

  constructor(epoch: number = Date.UTC(2024, 0, 1)) {
    this.#epoch = epoch;
    this.service = {
      now: () => this.epochMs(),
      schedule: (delayMs, callback) => this.schedule(this.#now + delayMs, callback),
    };
  }

  now(): number {
    return this.#now;
  }

  epochMs(): number {
    return this.#epoch + this.#now;
  }

  schedule(time: number, call: () => void): () => void {
    const appointment: Appointment = { time: Math.max(time, this.#now), n: ++this.#count, call };
    // An infinite time never comes.
    if (time !== Number.POSITIVE_INFINITY) this.#appointments.push(appointment);
    return () => {
      if (appointment.call === undefined) return;
      appointment.call = undefined;
      if (time !== Number.POSITIVE_INFINITY) this.#dropCancelled();
    };
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
        const next = this.#next();
        if (next === undefined && !besideSockets) {
          reject(new Error('Nothing is left to happen, and the work has not ended.'));
          return;
        }
        next?.();
        setImmediate(turn);
      };
      setImmediate(turn);
    });
  }

  #next(): (() => void) | undefined {
    for (;;) {
      const appointment = this.#appointments.pop();
      if (appointment === undefined) return undefined;
      const { call } = appointment;
      if (call === undefined) {
        this.#cancelled--;
        continue;
      }
      appointment.call = undefined;
      this.#now = appointment.time;
      return call;
    }
  }

  /** Most deadlines are cancelled. They must not pile up. */
  #dropCancelled(): void {
    if (++this.#cancelled < 64 || this.#cancelled * 2 < this.#appointments.size) return;
    this.#appointments.keep(({ call }) => call !== undefined);
    this.#cancelled = 0;
  }
}

/** The earliest first. */
class Heap {
  #items: Appointment[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(item: Appointment): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = items[parent];
      if (above === undefined || isBefore(above, item)) break;
      items[index] = above;
      index = parent;
    }
    items[index] = item;
  }

  pop(): Appointment | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const right = items[child + 1];
      const left = items[child];
      if (left === undefined) break;
      const smaller = right !== undefined && isBefore(right, left) ? right : left;
      if (smaller === right) child++;
      if (isBefore(last, smaller)) break;
      items[index] = smaller;
      index = child;
    }
    items[index] = last;
    return first;
  }

  keep(wanted: (item: Appointment) => boolean): void {
    // An array that is sorted is a heap.
    this.#items = this.#items.filter(wanted).sort((one, other) => (isBefore(one, other) ? -1 : 1));
  }
}

function isBefore(one: Appointment, other: Appointment): boolean {
  return one.time < other.time || (one.time === other.time && one.n < other.n);
}
