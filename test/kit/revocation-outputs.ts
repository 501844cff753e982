import { expect } from 'vitest';
import type { StepResult } from '../runner/step.js';

/** Outputs and result-file of a step that revokes keys agree. `more`: what else its result-file holds. */
export function expectRevocationOutputs(
  result: StepResult,
  mode: 'revoke-key' | 'sweep-keys',
  status: string,
  { revoked, kept }: Readonly<Record<'revoked' | 'kept', readonly string[]>>,
  more: Readonly<Record<string, unknown>> = {},
): void {
  expect(result.outputs).toEqual({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({
    mode,
    status,
    revoked_key_ids: revoked,
    kept_key_ids: kept,
    ...more,
  });
}
