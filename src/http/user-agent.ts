/** The version is that of package.json. */
export const userAgent = 'ctl-action/1.0.0';
