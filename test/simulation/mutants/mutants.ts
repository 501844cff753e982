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
 * Under the path of its file each mutant has a line `name: defect`, the lines to replace (`-`), and those in their place (`+`).
 */
export const mutants: readonly Mutant[] = parseMutants(readFileSync('test/simulation/mutants/mutants.txt', 'utf8'));

function parseMutants(text: string): Mutant[] {
  return text.split('\n\n').flatMap((group) => {
    const [file = '', ...lines] = group.split('\n');
    const heads = lines.flatMap((line, index) => (/^[a-z]/.test(line) ? [index] : []));
    return heads.map((head, index): Mutant => {
      const [, name = '', defect = ''] = /^([a-z0-9-]+): (.+)$/.exec(lines[head] ?? '') ?? [];
      const body = lines.slice(head + 1, heads[index + 1]);
      const after = (sign: string) => body.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
      return { name, defect, file, replace: after('-').join('\n'), by: after('+').join('\n') };
    });
  });
}
