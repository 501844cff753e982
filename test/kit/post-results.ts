import { expect } from 'vitest';
import type { StepResult } from '../runner/step.js';
import { type Stage, warningsOf } from './stage.js';

export function expectRevoked({ service }: Stage, main: StepResult, post: StepResult): void {
  const id = main.outputs['key-id'] ?? '';
  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive(id)).toBe(false);
  expect(post.summary).toContain(`Key ${id} was revoked`);
  expect(warningsOf(post)).toEqual([]);
}

/** One warning names the key and the reason. */
export function expectNotRevoked({ service }: Stage, main: StepResult, post: StepResult, reason: RegExp): void {
  const id = main.outputs['key-id'] ?? '';
  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive(id)).toBe(true);
  expect(warningsOf(post)).toEqual([expect.stringContaining(`key ${id} `)]);
  expect(warningsOf(post)[0]).toMatch(reason);
  expect(post.conclusion).toBe('success');
}
