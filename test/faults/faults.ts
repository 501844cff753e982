/** `npm run test:faults`: replays simulated runs. `--seconds N`: so long; `--seed S`: from there on; `--only S`: only that. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { Job } from '../runner/job.js';
import { groupOf } from '../simulation/coverage.js';
import { violationsOf } from '../simulation/invariants/index.js';
import { modes, type StepPlan } from '../simulation/plan.js';
import type { Run } from '../simulation/record.js';
import { simulate } from '../simulation/simulate.js';
import { showRun } from '../simulation/trace.js';
import { replay } from './replay.js';

/** A service drips only small bodies. No signal reaches post. The network alone closes a connection, or is out. */
const impossible = /^list-.*: drip|^post: signal|: closed-on-arrival|: outage/;

const cells: readonly string[] = [...modes, 'post']
  .flatMap((mode) => [...Object.keys(groupOf), 'status', 'kill', 'signal'].map((kind) => `${mode}: ${kind}`))
  .filter((cell) => !impossible.test(cell));

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { seconds: text, seed: text, only: text } });
const job = new Job();
process.once('exit', () => job.dispose());
const isClean = values.only === undefined ? await replayMany() : showRun(await replay(Number(values.only)));
process.exitCode = isClean ? 0 : 1;

async function replayMany(): Promise<boolean> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
  const limitMs = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds) * 1_000;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const progress = () => console.log(`${(elapsed() / 1_000).toFixed(0)} s: ${passed + failed} runs, ${failed} failed`);
  let [passed, failed] = [0, 0];
  const covered = new Set<string>();
  const choices = await choosePlans(seed, job.temp, values.seconds === undefined);
  console.log(`${choices.length} plans from seed ${seed} on, chosen in ${(elapsed() / 1_000).toFixed(0)} s.`);
  const timer = setInterval(progress, 10_000);
  const judge = (run: Run) => {
    for (const name of cellsOf(run)) covered.add(name);
    return violationsOf(run);
  };
  const running = pLimit(24).map(choices, async (choice) => {
    if (elapsed() + choice.ms > limitMs) return;
    const broken = (error: unknown) => [`the replay failed: ${error instanceof Error ? error.stack : error}`];
    const violations = await replay(choice.seed).then(judge, broken);
    if (violations.length === 0) passed++;
    else failed++;
    for (const violation of violations) console.log(`✗ ${violation}\n    npm run test:faults -- --only ${choice.seed}`);
  });
  await running.finally(() => clearInterval(timer));
  const missing = Number.isFinite(limitMs) ? [] : cells.filter((name) => !covered.has(name));
  if (passed + failed === 0) missing.push('any fault: there was no time for a run');
  for (const name of missing) console.log(`✗ never met: ${name}`);
  const seconds = Math.round(elapsed() / 1_000);
  const figures = { passed, failed: failed + missing.length, cells: covered.size, seed, seconds };
  writeFileSync('build/faults.json', `${JSON.stringify(figures)}\n`);
  console.log(JSON.stringify(figures));
  return figures.failed === 0;
}

function cellsOf({ steps }: Run): Set<string> {
  const met = steps.flatMap(({ processes, plan }) =>
    processes.flatMap(({ part, sent, exit, signalledAt }) => {
      const kinds: unknown[] = sent.map(({ fault }) => fault);
      if (exit === 'killed') kinds.push('kill');
      if (signalledAt !== undefined) kinds.push('signal');
      return kinds.map((kind) => `${part === 'post' ? part : plan.mode}: ${kind}`);
    }),
  );
  return new Set(met.filter((cell) => cells.includes(cell)));
}

/** Chooses plans by their virtual run, so that each fault hits each mode. Those that cover the rarest cells come first. */
async function choosePlans(from: number, temp: string, isWhole: boolean) {
  // `perCell`: how many plans each cell gets. Runs that take longer than `maxMs` in virtual time are left out.
  const partly = { perCell: 6, maxSeeds: 1_000, maxMs: 30_000 };
  const { perCell, maxSeeds, maxMs } = isWhole ? { perCell: 10, maxSeeds: 40_000, maxMs: 45_000 } : partly;
  const counts = new Map(cells.map((name) => [name, 0]));
  const rounds = Array.from({ length: perCell }, (): { seed: number; ms: number }[] => []);
  for (let seed = from; seed < from + maxSeeds && Math.min(...counts.values()) < perCell; seed++) {
    const run = await simulate(seed, temp);
    const ms = Math.max(...run.steps.flatMap((step) => step.processes.map(({ endedAt }) => endedAt)));
    const covered = [...cellsOf(run)];
    const rarest = Math.min(...covered.map((name) => counts.get(name) ?? 0));
    if (rarest >= perCell || ms > maxMs || !isReplayable(run)) continue;
    rounds[rarest]?.push({ seed, ms });
    for (const name of covered) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return rounds.flat();
}

/** Over sockets the runner accepts everything, and a connection is refused by nobody. */
function isReplayable({ plan }: Run): boolean {
  const isAccepting = ({ runnerFault }: StepPlan) => runnerFault === undefined;
  return plan.outages.every(({ how }) => how === 'silent') && plan.jobs.flat().every(isAccepting);
}
