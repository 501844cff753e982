import { resolve } from 'node:path';

/** Arguments of Node that load a fixture before the action. */
export const preload = (name: string): readonly string[] => ['--require', resolve(`test/kit/fixtures/${name}.cjs`)];

/** Options of a step whose process has this defect of the fixture `defect`. */
export const withDefect = (DEFECT: string) => ({ nodeArgs: preload('defect'), env: { DEFECT } });

export const shortPauses = preload('quick-dice');

/** Half of the 20 s of a post step are over when it begins. */
export const lateStart = preload('late-start');
