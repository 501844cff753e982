import type { TestContext } from 'vitest';
import type { FaultRule, Operation, OperationPlan } from '../../control-plane/index.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { type Stage, type StageOptions, setStage } from './stage.js';

export const second = 1_000;
export const minute = 60 * second;
export const forever: OperationPlan = { lengthMs: Number.POSITIVE_INFINITY };
export const ended: OperationPlan = { lengthMs: 0 };
export const failedAtOnce: OperationPlan = { lengthMs: 0, outcome: 'failed' };
export const all = { 'operation-id': 'all' };

export interface WaitOptions extends Omit<StageOptions, 'faults'>, Pick<StepOptions, 'debug'> {
  /** Faults, also of the operations with these ids. */
  readonly faults?: readonly FaultRule[] | ((...ids: string[]) => readonly FaultRule[]);
  /** After so many of the operations, more ended ones begin than one read of the newest 200 shows. */
  readonly buried?: number;
  /** Acts before the step starts. */
  readonly before?: (stage: Stage, operations: readonly Operation[]) => unknown;
}

export interface Wait extends Stage {
  /** Of the operations that were planned. */
  readonly ids: readonly string[];
  readonly result: StepResult;
  /** Milliseconds. */
  readonly took: number;
}

/** Waits for operations with these plans. The project has no others. */
export async function waitFor(
  context: TestContext,
  plans: readonly OperationPlan[],
  inputs: StepOptions['inputs'] = {},
  { faults = [], buried = 0, before, debug, ...options }: WaitOptions = {},
): Promise<Wait> {
  const stage = await setStage(context, { operations: 0, ...options });
  const operations = plans.slice(0, buried).map((plan) => stage.operation(plan));
  if (buried > 0) for (let n = 0; n < 250; n++) stage.operation(ended);
  operations.push(...plans.slice(buried).map((plan) => stage.operation(plan)));
  const ids = operations.map(({ id }) => id);
  for (const rule of typeof faults === 'function' ? faults(...ids) : faults) stage.service.faults.add(rule);
  before?.(stage, operations);
  const result = await stage.run({ 'operation-id': ids.join(' '), ...inputs }, { debug });
  return { ...stage, ids, result, took: tookOf(result) };
}

export function tookOf({ outputs }: StepResult): number {
  return Number(outputs['duration-ms']);
}

/** The pauses between these times. */
export function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? 0));
}
