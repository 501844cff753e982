import { expect, it } from 'vitest';
import { Job } from '../../runner/job.js';
import { violationsOf } from '../../simulation/judges/index.js';
import { simulate } from '../../simulation/simulate.js';
import { traceOf } from '../../simulation/trace.js';

const seeds = Array.from({ length: 12 }, (_, index) => 7_000 + index);

it('a simulated run depends only on its seed and violates no invariant', async ({ onTestFinished }) => {
  const job = new Job();
  onTestFinished(() => job.dispose());
  const traces = new Map<number, string>();
  for (const seed of seeds) {
    const run = await simulate(seed, job.temp);
    const trace = traceOf(run);
    expect({ seed, violations: violationsOf(run) }).toEqual({ seed, violations: [] });
    for (const { main } of run.steps)
      for (const { n, method, path } of main.sent) expect(trace).toContain(`→ ${n} ${method} ${path}`);
    traces.set(seed, trace);
  }
  for (const seed of [...seeds].reverse()) expect(traceOf(await simulate(seed, job.temp))).toBe(traces.get(seed));
  expect(new Set(traces.values()).size).toBe(seeds.length);
});
