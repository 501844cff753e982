import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pMap from 'p-map';
import { mutated, readTextMutants, type TextMutant } from '../../mutants/text-mutants.js';
import { runMany } from '../run-many.js';

export const mutants: readonly TextMutant[] = readTextMutants('test/simulation/mutants/mutants.txt');

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
function compile(chosen: readonly TextMutant[]): void {
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

async function find({ name, defect }: TextMutant): Promise<boolean> {
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
