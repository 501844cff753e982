import type { Log } from '../../src/api/control-api.js';

export const silent: Log = { info() {}, warning() {}, debug() {} };
