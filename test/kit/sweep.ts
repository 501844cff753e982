import { expect, type TestContext } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { resultFileOf, type StageOptions, setStage, warningsOf } from './stage.js';
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

type Step = [inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>];
export type SweepStage = Awaited<ReturnType<typeof setSweep>>;

/** A stage for steps that revoke keys. The key in use has the id 1. The others count up from 2. */
export async function setSweep(context: TestContext, options: StageOptions = {}) {
  const stage = await setStage(context, options);
  const { plane, requests } = stage.service;
  /** By default, a key is old enough for a run that is not found to count. */
  const addNamed = (name: string, ageMs = day) => plane.addKeyOfAge(name, ageMs).id;
  /** Adds a key as create-key makes it in that run. GitHub finds no run unless the test adds one. */
  const addKey = (id: string, { attempt = 1, fingerprint = ours, ageMs = day, isKept = false } = {}) =>
    addNamed(makeKeyName('shop', { run: { id, attempt, fingerprint }, isKept }, Math.random), ageMs);
  return {
    ...stage,
    addNamed,
    addKey,
    addKeys: (count: number) => Array.from({ length: count }, () => addKey('11')),
    aliveIds: () => plane.aliveKeys().map(({ id }) => id),
    /** Paths of the DELETE requests. */
    deletes: () => requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path),
    revoke: (...step: Step) => stage.runMode('revoke-key', ...step),
    startSweep: (...step: Step) => stage.startMode('sweep-keys', ...step),
    sweep: (...step: Step) => stage.runMode('sweep-keys', ...step),
  };
}

/** Two keys of a run: first one older than the default of older-than, then one younger. */
export function addOldAndYoung({ addKey }: Pick<SweepStage, 'addKey'>, runId = '11') {
  return [addKey(runId, { ageMs: 35 * day + hour }), addKey(runId, { ageMs: 35 * day - hour })] as const;
}

type KeyIds = Readonly<Partial<Record<'revoked' | 'gone' | 'kept', readonly string[]>>>;

const conclusions: Readonly<Record<string, StepResult['conclusion']>> = { error: 'failure', cancelled: 'cancelled' };

/** Outputs, result-file and conclusion of a step that revokes keys agree. */
export function expectRevocations(
  result: StepResult,
  mode: 'revoke-key' | 'sweep-keys',
  status: string,
  { revoked = [], gone = [], kept = [] }: KeyIds,
): void {
  expect(result.outputs).toMatchObject({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
  });
  const ids = { count: revoked.length, revoked_key_ids: revoked, kept_key_ids: kept };
  expect(fileOf(result)).toMatchObject({ mode, status, ...ids, ...(mode === 'revoke-key' && { gone_key_ids: gone }) });
  expect(result.conclusion).toBe(conclusions[status] ?? 'success');
}

export function expectSwept(result: StepResult, status: string, ids: KeyIds): void {
  expectRevocations(result, 'sweep-keys', status, ids);
}

export function fileOf(result: StepResult): { readonly decisions: readonly Readonly<Record<string, unknown>>[] } {
  return JSON.parse(resultFileOf(result));
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
