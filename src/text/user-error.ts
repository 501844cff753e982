/** An error that is no bug of the action. The report adds no advice, because the message already gives it. */
export class UserError extends Error {}
