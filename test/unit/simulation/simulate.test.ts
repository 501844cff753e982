import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { violationsOf } from '../../simulation/invariants/index.js';
import { simulate } from '../../simulation/simulate.js';
import { traceOf } from '../../simulation/trace.js';

const seeds = Array.from({ length: 40 }, (_, index) => 7_000 + index);

it('a simulated run depends only on its seed and violates no invariant', async ({ onTestFinished }) => {
  const temp = mkdtempSync(join(tmpdir(), 'simulation-'));
  onTestFinished(() => rmSync(temp, { recursive: true }));
  const traces = new Map<number, string>();
  for (const seed of seeds) {
    const run = await simulate(seed, temp);
    const trace = traceOf(run);
    expect({ seed, violations: violationsOf(run) }).toEqual({ seed, violations: [] });
    for (const { main } of run.steps)
      for (const { n, method, path } of main.sent) expect(trace).toContain(`→ ${n} ${method} ${path}`);
    traces.set(seed, trace);
  }
  for (const seed of [...seeds].reverse()) expect(traceOf(await simulate(seed, temp))).toBe(traces.get(seed));
  expect(new Set(traces.values()).size).toBe(seeds.length);
});
