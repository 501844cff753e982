import type { Log } from '../../src/api/request.js';

export const silent: Log = { info() {}, warning() {}, debug() {} };
