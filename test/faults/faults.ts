/**
 * `npm run test:faults`: the bundle over real sockets, in every mode, at every exchange, with everything that can go wrong.
 * `--seconds 90` a part of it, another one each time; `--seed 5` the same part; `--only "<cell>"` one cell, with all it said.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { seededRandom } from '../control-plane/random.js';
import { headline, presentStep } from '../runner/present.js';
import { processesOf } from './account.js';
import { runCampaign } from './campaign.js';
import { lists } from './lists.js';
import { mintings } from './mintings.js';
import { nameOf, type Outcome, outcomeOf } from './outcome.js';
import { revocations } from './revocations.js';
import { cellsOf } from './table.js';
import { tableOfOutcomes } from './table-of-outcomes.js';
import { waits } from './waits.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '128' },
  },
});
const subjects = [...mintings, ...waits, ...lists, ...revocations];

process.exitCode = values.only === undefined ? await runMany() : await runOne(values.only);

async function runMany(): Promise<number> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
  const time = values.seconds === undefined ? undefined : Number(values.seconds) * 1_000;
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(0);
  let done = 0;
  console.log(time === undefined ? 'The whole table.' : `${values.seconds} s of the table, drawn by --seed ${seed}.`);
  const alive = setInterval(() => console.log(`${seconds()} s: ${done} cells`), 10_000);
  const { outcomes, planned } = await runCampaign({
    subjects,
    atOnce: Number(values['at-once']),
    time,
    random: seededRandom(seed),
    onOutcome: (outcome) => {
      done++;
      if (outcome.violations.length > 0) tell(outcome);
    },
  }).finally(() => clearInterval(alive));

  console.log(`\n${tableOfOutcomes(outcomes)}\n`);
  const failed = outcomes.filter(({ violations }) => violations.length > 0).length;
  const runs = outcomes.reduce((sum, outcome) => sum + outcome.runs, 0);
  const notRun = time === undefined ? planned - outcomes.length : 0;
  const figures = {
    passed: outcomes.length - failed,
    failed: failed + notRun,
    planned,
    runs,
    seed,
    seconds: Number(seconds()),
  };
  writeFileSync('build/faults.json', `${JSON.stringify(figures)}\n`);
  console.log(JSON.stringify(figures));
  return figures.failed === 0 ? 0 : 1;
}

function tell({ name, violations }: Outcome): void {
  console.log(`✗ ${name}`);
  for (const violation of violations) console.log(`    ${violation}`);
  console.log(`    npm run test:faults -- --only "${name}"`);
}

async function runOne(wanted: string): Promise<number> {
  const subject = subjects.find(({ name }) => wanted.startsWith(`${name}: `));
  if (subject === undefined) throw new Error(`There is no situation of which “${wanted}” is a cell.`);
  const clean = await outcomeOf(subject, undefined);
  const cells = clean.account === undefined ? [] : cellsOf(clean.account);
  const cell = cells.find((one) => nameOf(subject, one) === wanted);
  if (cell === undefined && clean.name !== wanted)
    throw new Error(`There is no such cell. There are:\n${cells.map((one) => nameOf(subject, one)).join('\n')}`);
  const outcome = cell === undefined ? clean : await outcomeOf(subject, cell);
  if (outcome.account !== undefined) {
    for (const { stage, result, exchanges } of processesOf(outcome.account)) {
      console.log(`${headline(stage)}\n${presentStep(result)}`);
      const begin = exchanges[0]?.at ?? 0;
      for (const { n, at, endedAt, method, path, keyId, fault, status } of exchanges) {
        const end = endedAt === undefined ? 'open' : `${endedAt - at} ms`;
        console.log(
          `${String(n).padStart(4)} ${at - begin} ms, ${end}: ${method} ${path} by ${keyId}: ${status} ${fault ?? ''}`,
        );
      }
      console.log(
        `     ended after ${Math.round(result.ms)} ms: exit code ${result.exitCode}, signal ${result.signal}\n`,
      );
    }
    const made = outcome.account.made.map(({ key, isAlive }) => `${key.id} (${isAlive ? 'alive' : 'revoked'})`);
    console.log(`Keys made: ${made.join(', ') || 'none'}`);
  }
  if (outcome.violations.length === 0) console.log(`✓ ${outcome.name}`);
  else tell(outcome);
  return outcome.violations.length === 0 ? 0 : 1;
}
