import { ControlApi } from '../../src/api/control-api.js';
import type { Exchange } from '../../src/http/exchange.js';
import { Rate } from '../../src/http/rate.js';
import type { Clock } from '../../src/time/clock.js';
import { VirtualClock } from './clock.js';
import { silent } from './silent.js';

const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key' };

export const apiBy = (exchange: Exchange, clock: Clock = new VirtualClock()): ControlApi =>
  new ControlApi({ ...access, exchange, log: silent, rate: new Rate(clock, Math.random) });
