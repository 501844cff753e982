/** The version equals that of package.json. A test holds that. */
export const userAgent = 'ctl-action/1.0.0';
