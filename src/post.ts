import { nothingToRevoke, postStateName } from './modes/keys/post-state-name.js';

const saved = process.env[`STATE_${postStateName}`] ?? '';
// A job that made no key pays for the start of Node alone.
if (saved !== '' && saved !== nothingToRevoke) {
  // Red, should the rest not load.
  process.exitCode = 1;
  void import('./revoke-in-post.js');
}
