/** The name of the state that main saves for post. */
export const postStateName = 'key';

/**
 * What a step saves that has no key to revoke. It is not empty, so that it cannot be mistaken for a missing state: for that
 * one, another step could set `STATE_…` through `GITHUB_ENV`.
 */
export const nothingToRevoke = 'nothing-to-revoke';
