import type { TestContext } from 'vitest';
import type { FaultRule, Operation, OperationPlan } from '../../control-plane/index.js';
import type { StepOptions } from '../runner/step.js';
import type { Inputs } from './inputs.js';
import { type Stage, type StageOptions, setStage } from './stage.js';

export const forever: OperationPlan = { lengthMs: Number.POSITIVE_INFINITY };
export const ended: OperationPlan = { lengthMs: 0 };
export const failed: OperationPlan = { lengthMs: 0, outcome: 'failed' };
export const all = { 'operation-id': 'all' };
/** To the end of each operation. */
export const patient = { 'fail-fast': 'false' };

export const every = (pause: string) => ({ 'poll-interval': pause });

export interface WaitPlan extends OperationPlan {
  readonly project?: number;
  readonly startsAfterMs?: number;
}

export const many = (count: number, plan: WaitPlan): WaitPlan[] => Array(count).fill(plan);

export interface WaitOptions extends Omit<StageOptions, 'faults'>, Pick<StepOptions, 'debug'> {
  /** Faults, also of the operations with these ids. */
  readonly faults?: readonly FaultRule[] | ((...ids: string[]) => readonly FaultRule[]);
  /** After this many operations of the plan, others begin and end. Their number is `buriedUnder`, or more than a page. */
  readonly buried?: number;
  readonly buriedUnder?: number;
  readonly cancelAfterMs?: number;
  readonly before?: (stage: Stage, operations: readonly Operation[]) => unknown;
}

/** Waits for operations with these plans, in all projects of the stage. The projects have no others. */
export async function waitFor(
  context: TestContext,
  plans: readonly WaitPlan[],
  inputs: Inputs = {},
  { faults = [], buried = 0, buriedUnder = 150, cancelAfterMs, before, debug, ...options }: WaitOptions = {},
) {
  const stage = await setStage(context, { operations: 0, ...options });
  const { projectIds, faults: faultPlan } = stage.service;
  const operations: Operation[] = [];
  const start = ({ project = 0, startsAfterMs = 0, ...plan }: WaitPlan) => {
    const begin = () => void operations.push(stage.operation({ projectId: projectIds[project] ?? '', ...plan }));
    if (startsAfterMs > 0) stage.after(startsAfterMs, begin);
    else begin();
  };
  for (const plan of plans.slice(0, buried)) start(plan);
  if (buried > 0) for (const plan of many(buriedUnder, ended)) stage.operation(plan);
  for (const plan of plans.slice(buried)) start(plan);
  const idsOf = () => operations.map(({ id }) => id);
  for (const rule of typeof faults === 'function' ? faults(...idsOf()) : faults) faultPlan.add(rule);
  before?.(stage, operations);
  const own = { 'project-id': projectIds.join(), 'operation-id': idsOf().join(' ') };
  const step = stage.start({ ...own, ...inputs }, { debug });
  if (cancelAfterMs !== undefined) stage.after(cancelAfterMs, () => void step.cancel());
  const result = await step.done;
  const [times, paths] = [stage.times(), stage.paths()];
  return {
    ...stage,
    /** Of the operations that were planned, in the order of their start. */
    ids: idsOf(),
    result,
    /** When the requests arrived whose path contains this. */
    timesOf: (part = '') => times.filter((_, n) => paths[n]?.includes(part)),
  };
}

/** The same, until no unfinished operation is left. */
export const waitForAll = (context: TestContext, plans: readonly WaitPlan[], inputs?: Inputs, options?: WaitOptions) =>
  waitFor(context, plans, { ...all, ...inputs }, options);
