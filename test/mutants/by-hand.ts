import { readFileSync } from 'node:fs';

/** A mistake that a tired colleague could make: it replaces the text `replace` with the text `by`. */
export interface Mutant {
  readonly name: string;
  /** The promise that it breaks, or what it does, in words. */
  readonly defect: string;
  /** True if the simulation must find it, too. */
  readonly isSimulated: boolean;
  readonly file: string;
  /** Occurs once in the file, else the mutant is out of date. */
  readonly replace: string;
  readonly by: string;
}

/**
 * Below the path of its file each mutant has a line `name: defect` or `name (simulated): defect`, the lines to replace (`-`),
 * and the lines in their place (`+`).
 */
export const byHand: readonly Mutant[] = readFileSync('test/mutants/by-hand.txt', 'utf8')
  .split(/^(?=src\/)/m)
  .flatMap((group) => {
    const file = group.slice(0, group.indexOf('\n'));
    const entries = group.matchAll(/^([a-z0-9-]+)( \(simulated\))?: (.+)\n((?:[-+].*\n)+)/gm);
    return [...entries].map(([, name = '', simulated, defect = '', body = '']) => {
      const linesOf = (sign: string) =>
        body.split('\n').flatMap((line) => (line.startsWith(sign) ? line.slice(1) : []));
      const [replace, by] = [linesOf('-').join('\n'), linesOf('+').join('\n')];
      return { name, defect, isSimulated: simulated !== undefined, file, replace, by };
    });
  });

/** The file with the mutant. */
export function mutated({ name, file, replace, by }: Mutant): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} contains its text ${places} times.`);
  return source.replace(replace, () => by);
}
