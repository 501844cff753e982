import { readFileSync } from 'node:fs';

/** A defect that somebody could make in a file of src: `replace` becomes `by`. */
export interface TextMutant {
  readonly name: string;
  /** In words. */
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
export function readTextMutants(list: string): TextMutant[] {
  return readFileSync(list, 'utf8')
    .split(/^(?=src\/)/m)
    .flatMap((group) => {
      const file = group.slice(0, group.indexOf('\n'));
      const entries = group.matchAll(/^([a-z0-9-]+): (.+)\n((?:[-+].*\n)+)/gm);
      return [...entries].map(([, name = '', defect = '', body = '']) => {
        const linesOf = (sign: string) =>
          body.split('\n').flatMap((line) => (line.startsWith(sign) ? line.slice(1) : []));
        return { name, defect, file, replace: linesOf('-').join('\n'), by: linesOf('+').join('\n') };
      });
    });
}

/** The file with the mutant. */
export function mutated({ name, file, replace, by }: TextMutant): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} contains its text ${places} times.`);
  return source.replace(replace, () => by);
}
