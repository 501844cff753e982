/**
 * `npm run test:faults`: replays plans of the simulation over real sockets, with the built bundle as processes, and judges
 * them by the invariants of the simulation. `--seconds 90`: only so long; `--seed S`: plans from that seed on; `--only S`:
 * replays the plan of one seed and prints its trace.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { violationsOf } from '../simulation/invariants/index.js';
import { traceOf } from '../simulation/trace.js';
import { cells, cellsOf, choosePlans, kinds } from './choose.js';
import { replay } from './replay.js';

const whole = { perCell: 10, maxSeeds: 40_000, maxMs: 45_000 };
/** A choice that takes few of the seconds. */
const partly = { perCell: 6, maxSeeds: 1_000, maxMs: 30_000 };
/** A run may end so much later than the time that was given. */
const overtimeMs = 15_000;
const concurrency = 24;

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
process.exitCode = values.only === undefined ? await replayMany() : await replayOne(Number(values.only));

async function replayOne(seed: number): Promise<number> {
  const run = await replay(seed);
  const violations = violationsOf(run);
  console.log([traceOf(run), ...violations].join('\n\n'));
  return violations.length === 0 ? 0 : 1;
}

async function replayMany(): Promise<number> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
  const limitMs = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds) * 1_000;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const progress = () => console.log(`${(elapsed() / 1_000).toFixed(0)} s: ${passed + failed} runs, ${failed} failed`);
  let [passed, failed] = [0, 0];
  const covered = new Map<string, number>();

  const temp = mkdtempSync(join(tmpdir(), 'choose-'));
  const choices = await choosePlans({ from: seed, temp, ...(Number.isFinite(limitMs) ? partly : whole) });
  rmSync(temp, { recursive: true });
  console.log(`${choices.length} plans from seed ${seed} on, chosen in ${(elapsed() / 1_000).toFixed(0)} s.`);

  const timer = setInterval(progress, 10_000);
  const limit = pLimit(concurrency);
  await Promise.all(
    choices.map((choice) =>
      limit(async () => {
        if (elapsed() + choice.ms > limitMs + overtimeMs || elapsed() > limitMs) return;
        const violations = await replay(choice.seed).then(
          (run) => {
            for (const name of cellsOf(run)) covered.set(name, (covered.get(name) ?? 0) + 1);
            return violationsOf(run);
          },
          (error) => [`the replay failed: ${error instanceof Error ? error.stack : error}`],
        );
        if (violations.length === 0) passed++;
        else failed++;
        for (const violation of violations)
          console.log(`✗ ${violation}\n    npm run test:faults -- --only ${choice.seed}`);
      }),
    ),
  ).finally(() => clearInterval(timer));

  console.log(`\n${tableOf(covered)}\n`);
  const missing = Number.isFinite(limitMs) ? [] : cells.filter((name) => !covered.has(name));
  if (passed + failed === 0) missing.push('any fault: there was no time for a run');
  for (const name of missing) console.log(`✗ never met: ${name}`);
  const seconds = Math.round(elapsed() / 1_000);
  const figures = { passed, failed: failed + missing.length, cells: covered.size, seed, seconds };
  writeFileSync('build/faults.json', `${JSON.stringify(figures)}\n`);
  console.log(JSON.stringify(figures));
  return figures.failed === 0 ? 0 : 1;
}

/** How many runs met each fault in each mode. */
function tableOf(covered: ReadonlyMap<string, number>): string {
  const modes = [...new Set(cells.map((name) => name.split(': ')[0] ?? ''))];
  const rows = modes.map((mode) => [mode, ...kinds.map((kind) => String(covered.get(`${mode}: ${kind}`) ?? '-'))]);
  return [['', ...kinds], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
