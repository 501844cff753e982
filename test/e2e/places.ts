import { resolve } from 'node:path';

const version = 'v0.2.87';

/** As `go install` takes it. Its checksum database vouches for the code, as the version does for what act does. */
export const actModule = `github.com/nektos/act@${version}`;
export const actFolder = resolve('.cache', `act-${version}`);
export const actFile = resolve(actFolder, 'act');

/** A copy of what a runner would load of the action, without the rest of the checkout. */
export const actionFolder = resolve('build', 'e2e-action');
