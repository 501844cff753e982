/** All time of the control plane goes through one of these, so that a test can bring its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after the delay; what is returned cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** A longer delay makes Node's timers fire at once. */
const longestDelayMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, longestDelayMs));
    return () => clearTimeout(timer);
  },
};

interface Appointment {
  readonly at: number;
  readonly callback: () => void;
}

/** Stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now: number;
  readonly #appointments = new Set<Appointment>();

  constructor(startMs: number = Date.UTC(2024, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const appointment = { at: this.#now + Math.max(0, delayMs), callback };
    this.#appointments.add(appointment);
    return () => this.#appointments.delete(appointment);
  }

  /** How many callbacks are still to come. */
  get pending(): number {
    return this.#appointments.size;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#earliest(end); due; due = this.#earliest(end)) {
      this.#appointments.delete(due);
      this.#now = due.at;
      due.callback();
    }
    this.#now = end;
  }

  #earliest(end: number): Appointment | undefined {
    let first: Appointment | undefined;
    for (const appointment of this.#appointments) {
      if (appointment.at <= end && (first === undefined || appointment.at < first.at)) first = appointment;
    }
    return first;
  }
}
