/** The step cannot do what its inputs ask for. The message is complete and gets no further advice. */
export class UserError extends Error {}
