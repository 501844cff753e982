import { expect } from 'vitest';
import type { StepResult } from '../runner/step.js';
import { day, errorOf, hour, resultFileOf, type Stage } from './stage.js';
import type { KnownRun } from './workflow-runs.js';

export const completed: KnownRun = { attempt: 1, isCompleted: true };
export const running: KnownRun = { attempt: 1, isCompleted: false };

export function failing(status: number) {
  return { message: `GitHub responded with status ${status}`, status, transient: status >= 429 };
}

/** Two keys of a run: first one older than the default of older-than, then one younger. */
export function addOldAndYoung({ addKey }: Pick<Stage, 'addKey'>, runId = '11') {
  return [addKey(runId, { ageMs: 35 * day + hour }), addKey(runId, { ageMs: 35 * day - hour })] as const;
}

type KeyIds = Readonly<Partial<Record<'revoked' | 'missing' | 'kept', readonly string[]>>>;

/** Outputs and result-file of a step that revokes keys agree. */
export function expectRevocations(result: StepResult, mode: string, status: string, keyIds: KeyIds): void {
  const { revoked = [], missing, kept = [] } = keyIds;
  expect(result.outputs).toMatchObject({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
  });
  const ids = { count: revoked.length, revoked_key_ids: revoked, kept_key_ids: kept };
  expect(fileOf(result)).toMatchObject({ mode, status, ...ids, ...(missing && { not_found: missing }) });
}

export const expectSwept = (result: StepResult, status: string, keyIds: KeyIds): void =>
  expectRevocations(result, 'sweep-keys', status, keyIds);

export function fileOf(result: StepResult): { readonly decisions: readonly Readonly<Record<string, unknown>>[] } {
  return JSON.parse(resultFileOf(result));
}

/** The sweep left keys, because it could not read their runs. */
export function expectUnread(result: StepResult, revoked: readonly string[], kept: readonly string[], why: RegExp) {
  expectSwept(result, 'error', { revoked, kept });
  expect(errorOf(result)).toMatch(why);
  expect(errorOf(result)).toContain('actions: read');
  expect(result.summary).toMatch(/^### ❌/);
}
