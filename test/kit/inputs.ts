import { expect } from 'vitest';
import { modes as definitions } from '../../src/modes/index.js';
import type { StepOptions } from '../runner/step.js';
import { errorOf, type Stage } from './stage.js';

export type Inputs = NonNullable<StepOptions['inputs']>;

export type Mode = keyof typeof definitions;
export const modes = Object.keys(definitions) as Mode[];

export const uuid = (n: number): string => `a07f8772-1877-4da9-a939-${String(n).padStart(12, '0')}`;

export const operationId = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

export const requiredInputs: Readonly<Record<Mode, Inputs>> = {
  'wait-operation': { 'project-id': 'p', 'operation-id': operationId },
  'send-request': { request: 'POST /projects' },
  'list-operations': { 'project-id': 'p' },
  'list-projects': {},
  'create-key': {},
  'list-keys': {},
  'revoke-key': { 'key-id': '4711' },
  'sweep-keys': {},
};

export async function rejectInputs(stage: Stage, mode: string, inputs: Inputs, options?: Omit<StepOptions, 'inputs'>) {
  const result = await stage.runMode(mode, { ...requiredInputs[mode as Mode], ...inputs }, options);
  const idle = inputs['operation-id'] === 'all' ? { 'idle-project-ids': '[]' } : {};
  expect(result.outputs).toEqual({ status: 'error', message: expect.stringMatching(/^Bad input: /), ...idle });
  expect(result.state).toEqual({ key: 'nothing-to-revoke' });
  expect(result.exitCode).toBe(1);
  expect(errorOf(result)).toMatch(/^(Bad input: .*\n)+No request was sent\.$/);
  expect(stage.paths()).toEqual([]);
  return result;
}
