import { readFileSync } from 'node:fs';

/**
 * Mistakes that a tired colleague could make: each replaces a text that occurs once in its file by another.
 *
 * Below the path of its file each mutant has a line `name: defect` or `name (simulated): defect`, and a diff: lines that go
 * (`-`), come (`+`) or stay (a space), and within these the words that go (`[-old-]`) or come (`{+new+}`). `(simulated)`: the
 * simulation must find it, too.
 */
export const byHand = readFileSync('test/mutants/by-hand.txt', 'utf8')
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
export function mutated({ name, file, replace, by }: (typeof byHand)[number]): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} contains its text ${places} times.`);
  return source.replace(replace, () => by);
}
