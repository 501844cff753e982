import { ControlApi, type Log } from '../../src/api/control-api.js';
import type { Exchange } from '../../src/http/exchange.js';
import { Rate } from '../../src/http/rate.js';
import { type Send, usualPatience } from '../../src/http/retry.js';
import type { Deadline } from '../../src/time/deadline.js';
import { VirtualClock } from './clock.js';

export const silent: Log = { info() {}, warning() {}, debug() {} };

const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key' };

/** As in a step, the mode may share the rate of the API. */
export const apiBy = (exchange: Exchange, rate = new Rate(new VirtualClock(), Math.random)): ControlApi =>
  new ControlApi({ ...access, exchange, log: silent, rate });

export const sendOnce =
  (deadline: Deadline): Send =>
  (attempt) =>
    attempt({ deadline, patience: usualPatience });
