/** The name of the state that holds what main leaves for post. */
export const traceName = 'key';
