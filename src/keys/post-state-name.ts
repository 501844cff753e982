// This file imports nothing, because the post step of a job without a key must start fast.

/** Name of the saved state. The runner passes the state to the post step as `STATE_key`. */
export const postStateName = 'key';

/**
 * A step without a key to revoke saves this marker. Without a saved state, post could read a state that another step forged.
 * The marker is not empty, because a runner could treat an empty state as missing.
 */
export const nothingToRevoke = 'nothing-to-revoke';
