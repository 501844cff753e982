import { expect } from 'vitest';
import type { StepResult } from '../runner/step.js';
import { day, hour, resultFileOf, type Stage, warningsOf } from './stage.js';
import type { KnownRun } from './workflow-runs.js';

export const completed: KnownRun = { attempt: 1, isCompleted: true };
export const running: KnownRun = { attempt: 1, isCompleted: false };

export function failing(status: number, more: { readonly retryAfterMs?: number } = {}) {
  return { message: `GitHub responded with status ${status}`, status, transient: status >= 429, ...more };
}

/** Two keys of a run: first one older than the default of older-than, then one younger. */
export function addOldAndYoung({ addKey }: Pick<Stage, 'addKey'>, runId = '11') {
  return [addKey(runId, { ageMs: 35 * day + hour }), addKey(runId, { ageMs: 35 * day - hour })] as const;
}

type KeyIds = Readonly<Partial<Record<'revoked' | 'gone' | 'kept', readonly string[]>>>;

/** Outputs, result-file and conclusion of a step that revokes keys agree. */
export function expectRevocations(result: StepResult, mode: string, status: string, keyIds: KeyIds): void {
  const { revoked = [], gone = [], kept = [] } = keyIds;
  expect(result.outputs).toMatchObject({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
  });
  const ids = { count: revoked.length, revoked_key_ids: revoked, kept_key_ids: kept };
  expect(fileOf(result)).toMatchObject({ mode, status, ...ids, ...(mode === 'revoke-key' && { gone_key_ids: gone }) });
  expect(result.conclusion).toBe(status === 'error' ? 'failure' : status === 'cancelled' ? status : 'success');
}

export const expectSwept = (result: StepResult, status: string, keyIds: KeyIds): void =>
  expectRevocations(result, 'sweep-keys', status, keyIds);

export function fileOf(result: StepResult): { readonly decisions: readonly Readonly<Record<string, unknown>>[] } {
  return JSON.parse(resultFileOf(result));
}

export function expectWarned(result: StepResult, revoked: readonly string[], kept: readonly string[], why: RegExp) {
  expectSwept(result, 'ok', { revoked, kept });
  expect(warningsOf(result)).toEqual([expect.stringMatching(why)]);
  for (const advice of ['actions: read', 'older-than']) {
    expect(warningsOf(result)[0]).toContain(advice);
    expect(result.summary).toContain(advice);
  }
  expect(result.summary).toMatch(/^### ⚠️/);
}
