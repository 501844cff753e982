import { nothingToRevoke, postStateName } from './keys/post-state-name.js';

const saved = process.env[`STATE_${postStateName}`] ?? '';
// A job that created no key pays only for the start of Node.
if (saved !== '' && saved !== nothingToRevoke) {
  // The step fails if the import fails.
  process.exitCode = 1;
  void import('./revoke-in-post.js');
}
