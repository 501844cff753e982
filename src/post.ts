import { traceName } from './modes/keys/trace-name.js';

// A job that made no key pays for the start of Node alone.
if (process.env[`STATE_${traceName}`]) {
  // Red, should the rest not load.
  process.exitCode = 1;
  void import('./revoke-in-post.js');
}
