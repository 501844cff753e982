import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf } from '../../simulation/invariants/index.js';
import { simulate } from '../../simulation/simulate.js';
import { traceOf } from '../../simulation/trace.js';

const seeds = Array.from({ length: 60 }, (_, index) => 7_000 + index);

describe('a simulated run', () => {
  let temp = '';

  beforeAll(() => {
    temp = mkdtempSync(join(tmpdir(), 'simulation-'));
  });

  afterAll(() => rmSync(temp, { recursive: true }));

  it('takes the same course from the same seed, whatever ran before', async () => {
    const traces = new Map<number, string>();
    for (const seed of seeds) traces.set(seed, traceOf(await simulate(seed, temp)));
    for (const seed of [...seeds].reverse()) expect(traceOf(await simulate(seed, temp))).toBe(traces.get(seed));
    expect(new Set(traces.values()).size).toBe(seeds.length);
  });

  it('keeps its rules', async () => {
    for (const seed of seeds)
      expect({ seed, violations: violationsOf(await simulate(seed, temp)) }).toEqual({ seed, violations: [] });
  });

  it('tells all that was exchanged', async () => {
    const run = await simulate(7_000, temp);
    const trace = traceOf(run);
    for (const { main } of run.steps)
      for (const { n, method, path } of main.sent) expect(trace).toContain(`→ ${n} ${method} ${path}`);
  });
});
