/** The name of the state that main saves for post. */
export const postStateName = 'key';

/** What a step saves that has no key to revoke. Not empty, so that no runner takes it for a state that is missing. */
export const nothingToRevoke = 'nothing-to-revoke';
