import type { Log } from '../../src/api/log.js';

export const silent: Log = { info() {}, warning() {}, debug() {} };
