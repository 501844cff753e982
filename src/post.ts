import { nothingToRevoke, postStateName } from './keys/post-state-name.js';

const saved = process.env[`STATE_${postStateName}`] ?? '';
// A job that created no key loads no further code, so that its post step takes no longer than Node's start.
if (saved !== '' && saved !== nothingToRevoke) {
  // If the import fails, the step must fail.
  process.exitCode = 1;
  void import('./revoke-in-post.js');
}
