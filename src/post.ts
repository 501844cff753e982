import { nothingToRevoke, postStateName } from './keys/post-state-name.js';

const saved = process.env[`STATE_${postStateName}`] ?? '';
// If the job created no key, no further code is loaded, so the post step takes no longer than the start of Node.
if (saved !== '' && saved !== nothingToRevoke) {
  // If the import fails, the step must fail.
  process.exitCode = 1;
  void import('./revoke-in-post.js');
}
