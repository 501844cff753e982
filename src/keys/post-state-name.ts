/** The runner passes this state to post as `STATE_key`. */
export const postStateName = 'key';

/**
 * Saved by steps without a key to revoke: otherwise post could read a state that another step forged. The text is not
 * empty, because a runner could treat an empty state as missing.
 */
export const nothingToRevoke = 'nothing-to-revoke';
