import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pMap from 'p-map';
import { runMany } from '../run-many.js';

/** A defect that somebody could make in a file of src: `replace` becomes `by`. */
interface Mutant {
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

const firstSeed = 1;
const maxRuns = 20_000;
const common = { from: firstSeed, workers: 1, untilFound: true };
const folder = resolve('build/mutants');
const compiled = ['src', 'test/simulation', 'control-plane', 'test/virtual', 'test/kit'];

/** Checks that the simulation finds each mutant in a copy of the code. */
export async function findMutants(workers: number, only: string | undefined): Promise<boolean> {
  const chosen = mutants.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) {
    console.log(`There is no mutant ${only}: mutants.txt lists all.`);
    return false;
  }
  const startedAt = performance.now();
  compile(chosen);
  const found = await pMap(chosen, find, { concurrency: workers });
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`${found.filter(Boolean).length} of ${chosen.length} mutants found in ${seconds.toFixed(0)} s.`);
  rmSync(folder, { recursive: true });
  return found.every(Boolean);
}

/** A copy of the compiled code for each mutant, with one file changed. */
function compile(chosen: readonly Mutant[]): void {
  rmSync(folder, { recursive: true, force: true });
  const sources = join(folder, 'sources');
  const files = chosen.map((mutant) => {
    for (const part of compiled) cpSync(join('build', part), join(folder, mutant.name, part), { recursive: true });
    const path = join(sources, mutant.name, mutant.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, mutated(mutant));
    return path;
  });
  const options = '--ignoreConfig --noCheck --noResolve --module nodenext --target es2023 --types node'.split(' ');
  const args = ['tsc', ...options, '--rootDir', sources, '--outDir', folder, ...files];
  execFileSync('npx', args, { stdio: 'inherit' });
}

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

export function mutated({ name, file, replace, by }: Mutant): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} contains its text ${places} times.`);
  return source.replace(replace, () => by);
}

async function find({ name, defect }: Mutant): Promise<boolean> {
  const script = pathToFileURL(join(folder, name, 'test/simulation/worker.js'));
  const { findings } = await runMany({ ...common, runs: maxRuns, script });
  const [first] = findings;
  const isFound = first !== undefined && (await isCleanWithout(first.seed));
  const outcome =
    first === undefined
      ? `NOT FOUND in ${maxRuns} runs`
      : `run ${first.seed - firstSeed + 1}${isFound ? '' : ', BUT ALSO WITHOUT IT'}: ${first.violations[0]?.slice(0, 110)}`;
  console.log(`${name} (${defect})\n  ${outcome}`);
  return isFound;
}

/** The mutant, and nothing else, must cause the violation. */
async function isCleanWithout(seed: number): Promise<boolean> {
  const { findings } = await runMany({ ...common, from: seed, runs: 1 });
  return findings.length === 0;
}
