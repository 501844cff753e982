/** The version must equal the one in package.json; a test checks this. */
export const userAgent = 'ctl-action/1.0.0';
