import { Cancellation, Deadline } from '../../src/time/deadline.js';
import { VirtualClock } from './clock.js';

/** A deadline of virtual time, its clock, and what cancels it. */
export function deadlineAt(expiresAt: number) {
  const [clock, cancellation] = [new VirtualClock(), new Cancellation()];
  return { clock, cancellation, deadline: new Deadline(clock, expiresAt, cancellation) };
}
