import { ControlApi } from '../../src/api/control-api.js';
import type { Exchange } from '../../src/http/exchange.js';
import { silent } from './silent.js';

const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key', requestTimeout: 30_000 };

export const apiBy = (exchange: Exchange): ControlApi => new ControlApi({ ...access, exchange, log: silent });
