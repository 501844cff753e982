import { readFileSync } from 'node:fs';

/** A defect that somebody could make in a file of src: `replace` becomes `by`. */
export interface Mutant {
  readonly name: string;
  readonly defect: string;
  readonly file: string;
  /** Occurs once in the file, else the mutant is out of date. */
  readonly replace: string;
  readonly by: string;
}

/**
 * Below the path of its file each mutant has a line `name: defect`, the lines to replace (`-`), and the lines in their place
 * (`+`).
 */
export const mutants: readonly Mutant[] = parse(readFileSync('test/simulation/mutants/mutants.txt', 'utf8'));

function parse(text: string): Mutant[] {
  return text.split(/^(?=src\/)/m).flatMap((group) => {
    const file = group.slice(0, group.indexOf('\n'));
    return [...group.matchAll(/^([a-z0-9-]+): (.+)\n((?:[-+].*\n)+)/gm)].map(
      ([, name = '', defect = '', body = '']) => {
        const linesOf = (sign: string) =>
          body.split('\n').flatMap((line) => (line.startsWith(sign) ? line.slice(1) : []));
        return { name, defect, file, replace: linesOf('-').join('\n'), by: linesOf('+').join('\n') };
      },
    );
  });
}
