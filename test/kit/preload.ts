import { resolve } from 'node:path';

export const preload = (name: string): readonly string[] => ['--require', resolve(`test/kit/fixtures/${name}.cjs`)];

export const withDefect = (DEFECT: string) => ({ nodeArgs: preload('defect'), env: { DEFECT } });

export const shortPauses = preload('quick-dice');

/** To its clock, the process starts 10 s later than it does. */
export const tenSecondsLater = preload('ten-seconds-later');
