/** `npm run test:faults`: replays simulated runs. `--seconds N`: so long; `--seed S`: from there on; `--only S`: only that. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { violationsOf } from '../simulation/invariants/index.js';
import type { Run } from '../simulation/record.js';
import { showRun } from '../simulation/trace.js';
import { cells, cellsOf, choosePlans } from './choose.js';
import { replay } from './replay.js';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { seconds: text, seed: text, only: text } });
const temp = mkdtempSync(join(tmpdir(), 'faults-'));
process.once('exit', () => rmSync(temp, { recursive: true }));
const isClean = values.only === undefined ? await replayMany() : showRun(await replay(Number(values.only), temp));
process.exitCode = isClean ? 0 : 1;

async function replayMany(): Promise<boolean> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
  const limitMs = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds) * 1_000;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const progress = () => console.log(`${(elapsed() / 1_000).toFixed(0)} s: ${passed + failed} runs, ${failed} failed`);
  let [passed, failed] = [0, 0];
  const covered = new Set<string>();
  const choices = await choosePlans(seed, temp, values.seconds === undefined);
  console.log(`${choices.length} plans from seed ${seed} on, chosen in ${(elapsed() / 1_000).toFixed(0)} s.`);
  const timer = setInterval(progress, 10_000);
  const judge = (run: Run) => {
    for (const name of cellsOf(run)) covered.add(name);
    return violationsOf(run);
  };
  const running = pLimit(24).map(choices, async (choice) => {
    if (elapsed() + choice.ms > limitMs) return;
    const broken = (error: unknown) => [`the replay failed: ${error instanceof Error ? error.stack : error}`];
    const violations = await replay(choice.seed, temp).then(judge, broken);
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
