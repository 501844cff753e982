import { type Send, usualPatience } from '../../src/http/retry.js';
import type { Deadline } from '../../src/time/deadline.js';

/** Sends a request once. */
export const sendOnce =
  (deadline: Deadline): Send =>
  (attempt) =>
    attempt({ deadline, patience: usualPatience });
