/** What was asked for cannot be done. The message is whole. */
export class NoResult extends Error {}
