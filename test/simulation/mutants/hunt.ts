import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pMap from 'p-map';
import { sail } from '../fleet.js';
import { type Mutant, mutants } from './mutants.js';

const firstSeed = 1;
const mostRuns = 20_000;
const orders = { from: firstSeed, workers: 1, untilFound: true, patience: 60_000 };
const folder = resolve('build/mutants');
const needed = ['src', 'test/simulation', 'test/control-plane', 'test/virtual'];

/** Whether the simulation finds each defect that is put into a copy of the code. */
export async function huntMutants(workers: number, only: string | undefined): Promise<boolean> {
  const chosen = mutants.filter(({ name }) => only === undefined || name === only);
  const began = performance.now();
  breed(chosen);
  const found = await pMap(chosen, hunt, { concurrency: workers });
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${found.filter(Boolean).length} of ${chosen.length} mutants found in ${seconds.toFixed(0)} s.`);
  rmSync(folder, { recursive: true });
  return found.every(Boolean);
}

/** Copies of what is compiled, each with one file that is another. */
function breed(chosen: readonly Mutant[]): void {
  rmSync(folder, { recursive: true, force: true });
  const sources = join(folder, 'sources');
  for (const mutant of chosen) {
    const path = join(sources, mutant.name, mutant.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, mutated(mutant));
  }
  const files = chosen.map(({ name, file }) => join(sources, name, file));
  const options = [
    '--ignoreConfig',
    '--noCheck',
    '--noResolve',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ];
  execFileSync('npx', ['tsc', ...options, '--rootDir', sources, '--outDir', join(folder, 'compiled'), ...files], {
    stdio: 'inherit',
  });
  for (const { name, file } of chosen) {
    for (const part of needed) cpSync(join('build', part), join(folder, name, part), { recursive: true });
    const compiled = file.replace(/\.ts$/, '.js');
    cpSync(join(folder, 'compiled', name, compiled), join(folder, name, compiled));
  }
}

/** The file as the mutant has it; an error where it has no such place any more. */
export function mutated({ name, file, replace, by }: Mutant): string {
  const source = readFileSync(file, 'utf8');
  const places = source.split(replace).length - 1;
  if (places !== 1) throw new Error(`The mutant ${name} does not apply: ${file} holds its place ${places} times.`);
  return source.replace(replace, () => by);
}

async function hunt({ name, defect }: Mutant): Promise<boolean> {
  const script = pathToFileURL(join(folder, name, 'test/simulation/worker.js'));
  const { findings } = await sail({ ...orders, runs: mostRuns, script });
  const [first] = findings;
  const isOfIt = first !== undefined && (await isFineWithout(first.seed));
  const outcome =
    first === undefined
      ? `NOT FOUND in ${mostRuns} runs`
      : `run ${first.seed - firstSeed + 1}${isOfIt ? '' : ', BUT ALSO WITHOUT IT'}: ${(first.violations[0] ?? '').slice(0, 110)}`;
  console.log(`${name} (${defect})\n  ${outcome}`);
  return isOfIt;
}

/** What is found must be the work of the mutant. */
async function isFineWithout(seed: number): Promise<boolean> {
  const script = new URL('../worker.js', import.meta.url);
  const { findings } = await sail({ ...orders, from: seed, runs: 1, script });
  return findings.length === 0;
}
