import { expect, type TestContext } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { expectRevocationOutputs } from './revocation-outputs.js';
import { type Stage, type StageOptions, setStage, warningsOf } from './stage.js';
import type { KnownRun } from './workflow-runs.js';

export const repositoryId = '123456789';
export const ours = repositoryFingerprint('https://github.com', repositoryId);
/** Milliseconds. */
export const hour = 3_600_000;
export const day = 24 * hour;

export const completed: KnownRun = { attempt: 1, isCompleted: true };
export const running: KnownRun = { attempt: 1, isCompleted: false };

export function failing(status: number, more: { readonly retryAfterMs?: number } = {}) {
  return { message: `GitHub responded with status ${status}`, status, transient: status >= 429, ...more };
}

interface KeyOfRun {
  readonly attempt?: number;
  readonly fingerprint?: string;
  /** Default: old enough for a run that is not found to count. */
  readonly ageMs?: number;
  readonly isKept?: boolean;
}

export interface SweepStage extends Stage {
  /** Adds a key; gives back its id. The key in use has the id 1, the others count up from 2. */
  addNamed(name: string, ageMs?: number): string;
  /** Adds a key as create-key makes it in that run. */
  addKey(runId: string, options?: KeyOfRun): string;
  aliveIds(): string[];
  /** Paths of the DELETE requests. */
  deletes(): string[];
  startSweep(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): StepHandle;
  sweep(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): Promise<StepResult>;
}

export async function setSweep(context: TestContext, options: StageOptions = {}): Promise<SweepStage> {
  const stage = await setStage(context, options);
  const { plane } = stage.service;
  const addNamed: SweepStage['addNamed'] = (name, ageMs = day) => plane.addKeyOfAge(name, ageMs).id;
  const startSweep: SweepStage['startSweep'] = (inputs, more) => stage.startMode('sweep-keys', inputs, more);
  return {
    ...stage,
    addNamed,
    addKey: (id, { attempt = 1, fingerprint = ours, ageMs, isKept = false } = {}) =>
      addNamed(makeKeyName('shop', { run: { id, attempt, fingerprint }, isKept }, Math.random), ageMs),
    aliveIds: () => plane.aliveKeys().map(({ id }) => id),
    deletes: () => stage.service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path),
    startSweep,
    sweep: (inputs, more) => startSweep(inputs, more).done,
  };
}

/** Two keys of a run, one older than the default of older-than and one younger. */
export function addOldAndYoung({ addKey }: SweepStage, runId = '11'): readonly [old: string, young: string] {
  return [addKey(runId, { ageMs: 35 * day + hour }), addKey(runId, { ageMs: 35 * day - hour })];
}

const conclusions: Readonly<Record<string, StepResult['conclusion']>> = { ok: 'success', cancelled: 'cancelled' };

/** Outputs, result-file and conclusion agree. */
export function expectSwept(
  result: StepResult,
  status: string,
  { revoked = [], kept = [] }: Readonly<Partial<Record<'revoked' | 'kept', readonly string[]>>>,
): void {
  expectRevocationOutputs(result, 'sweep-keys', status, { revoked, kept });
  expect(result.conclusion).toBe(conclusions[status] ?? 'failure');
}

export function fileOf(result: StepResult): { readonly keys: readonly Readonly<Record<string, unknown>>[] } {
  return JSON.parse(result.readFile(result.outputs['result-file'] ?? ''));
}

/** A success with one warning: why runs could not be looked up, and what to check. */
export function expectWarned(result: StepResult, revoked: readonly string[], kept: readonly string[], why: RegExp) {
  expectSwept(result, 'ok', { revoked, kept });
  expect(warningsOf(result)).toEqual([expect.stringMatching(why)]);
  for (const advice of ['actions: read', 'older-than']) {
    expect(warningsOf(result)[0]).toContain(advice);
    expect(result.summary).toContain(advice);
  }
  expect(result.summary).toMatch(/^### ⚠️/);
}
