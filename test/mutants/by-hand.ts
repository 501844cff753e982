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
 * Below the path of its file each mutant has a line `name: defect` or `name (simulated): defect`, and a diff: lines that go
 * (`-`), come (`+`) or stay (a space), and within these the words that go (`[-old-]`) or come (`{+new+}`).
 */
export const byHand: readonly Mutant[] = readFileSync('test/mutants/by-hand.txt', 'utf8')
  .split(/^(?=src\/)/m)
  .flatMap((group) => {
    const file = group.slice(0, group.indexOf('\n'));
    const entries = group.matchAll(/^([a-z0-9-]+)( \(simulated\))?: (.+)\n((?:[-+ ].*\n)+)/gm);
    return [...entries].map(([, name = '', simulated, defect = '', diff = '']) => {
      const side = (sign: string, words: string) => {
        const lines = diff.split('\n').filter((line) => line.startsWith(sign) || line.startsWith(' '));
        return lines.map((line) => line.slice(1).replace(/\[-(.*?)-\]|\{\+(.*?)\+\}/g, words)).join('\n');
      };
      const isSimulated = simulated !== undefined;
      return { name, defect, isSimulated, file, replace: side('-', '$1'), by: side('+', '$2') };
    });
  });

/** The file with the mutant. */
export function mutated({ name, file, replace, by }: Mutant): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} contains its text ${places} times.`);
  return source.replace(replace, () => by);
}
