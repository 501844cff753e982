import { expect, type TestContext } from 'vitest';
import type { Fault, FaultRule, Operation, OperationPlan } from '../../control-plane/index.js';
import type { StepOptions } from '../runner/step.js';
import { addBetween } from './fault.js';
import type { Inputs } from './inputs.js';
import { errorOf, type Stage, type StageOptions, setStage } from './stage.js';
import { second } from './times.js';

export const forever: OperationPlan = { lengthMs: Number.POSITIVE_INFINITY };
export const ended: OperationPlan = { lengthMs: 0 };
export const runs = (seconds: number): OperationPlan => ({ lengthMs: seconds * second });
export const failsIn = (seconds: number): OperationPlan => ({ ...runs(seconds), outcome: 'failed' });
export const all = { 'operation-id': 'all' };
export const patient = { 'fail-fast': 'false' };

export const targets: [what: string, inputs: Inputs][] = [
  ['one id', {}],
  ['operation-id: all', all],
];

/** The end of a wait in which no operation counts. */
export const nothing = { status: 'finished', count: 0 };

/** The service sends no cursor with the last page of a list. */
export const lastPage = { notShown: { lastPageCursor: 'absent' } } as const;

/** The n-th read of a list is that of a copy so many seconds behind. Single requests see the truth. `at`: in seconds. */
export function listsBehind(behind: (n: number, at: number) => number): Pick<StageOptions, 'replicaFor'> {
  let reads = 0;
  return {
    replicaFor: ({ target }, ms) => {
      if (!target.includes('/operations?')) return {};
      if (!target.includes('cursor=')) reads++;
      return { operationsBehindMs: second * behind(reads, ms / second) };
    },
  };
}

/** Every request from one second of the wait to another has this fault. */
export const during = (from: number, to: number, fault: Fault) => ({
  before: (stage: Stage): void => addBetween(stage, from, to, { fault }),
});

/** The text of a list that says it is not whole, or of one that is. */
export const listWith = (fields: object) => JSON.stringify({ operations: [], ...fields });

export const every = (pause: string) => ({ 'poll-interval': pause });

export interface WaitPlan extends OperationPlan {
  readonly project?: number;
  readonly startsAfterMs?: number;
  readonly faults?: readonly FaultRule[];
}

/** The operation with this fault of the single requests for it: of all, or of these. */
export const meets = (plan: WaitPlan, fault: Fault, which: Partial<FaultRule> = {}): WaitPlan => ({
  ...plan,
  faults: [...(plan.faults ?? []), { fault, ...which }],
});

export const many = (count: number, plan: WaitPlan): WaitPlan[] => Array(count).fill(plan);

export interface WaitOptions extends StageOptions, Pick<StepOptions, 'debug'> {
  /** After this many operations of the plan, others begin and end. Their number is `buriedUnder`, or more than a page. */
  readonly buried?: number;
  readonly buriedUnder?: number;
  readonly cancelAfterMs?: number;
  readonly before?: (stage: Stage, operations: readonly Operation[]) => unknown;
}

export interface End {
  readonly status: string;
  readonly count?: number;
  /** Which of the planned operations decides. */
  readonly by?: number;
  readonly ms?: unknown;
  /** What the error says, also for the ids of the operations. */
  readonly says?: string | RegExp | ((ids: string[]) => RegExp) | undefined;
  /** How many requests were sent. */
  readonly requests?: number;
  /** The projects in `idle-project-ids`. */
  readonly idle?: readonly number[];
}

type WaitArguments = [plans: readonly WaitPlan[], inputs?: Inputs, options?: WaitOptions];

/** Waits for operations with these plans, in all projects of the stage, to this end. The projects have no others. */
export async function expectEnd(
  context: TestContext,
  end: string | End,
  plans: readonly WaitPlan[],
  inputs: Inputs = {},
  { faults = [], buried = 0, buriedUnder = 150, cancelAfterMs, before, debug, ...options }: WaitOptions = {},
) {
  const stage = await setStage(context, { operations: 0, ...options });
  const { projectIds, faults: faultPlan } = stage.service;
  const operations: Operation[] = [];
  const start = ({ project = 0, startsAfterMs = 0, faults = [], ...plan }: WaitPlan) => {
    const begin = () => {
      const operation = stage.operation({ projectId: projectIds[project] ?? '', ...plan });
      operations.push(operation);
      for (const rule of faults) faultPlan.add({ path: operation.id, ...rule });
    };
    if (startsAfterMs > 0) stage.after(startsAfterMs, begin);
    else begin();
  };
  for (const plan of plans.slice(0, buried)) start(plan);
  if (buried > 0) for (const plan of many(buriedUnder, ended)) stage.operation(plan);
  for (const plan of plans.slice(buried)) start(plan);
  const idsOf = () => operations.map(({ id }) => id);
  for (const rule of faults) faultPlan.add(rule);
  before?.(stage, operations);
  const own = { 'project-id': projectIds.join(), 'operation-id': idsOf().join(' ') };
  const step = stage.start({ ...own, ...inputs }, { debug });
  if (cancelAfterMs !== undefined) stage.after(cancelAfterMs, () => void step.cancel());
  const result = await step.done;
  const [times, paths] = [stage.times(), stage.paths()];
  const ids = idsOf();
  const { status, count, by, ms, says, requests, idle } = typeof end === 'string' ? ({ status: end } as End) : end;
  const conclusion = { finished: 'success', cancelled: 'cancelled' }[status] ?? 'failure';
  expect(result).toMatchObject({ conclusion, outputs: { status } });
  if (count !== undefined) expect(result.outputs['count']).toBe(String(count));
  if (count === 0) expect(result.outputs).toMatchObject({ 'operation-ids': '[]', operations: '[]' });
  if (by !== undefined) expect(result.outputs['operation-id']).toBe(ids[by]);
  if (ms !== undefined) expect(result.ms).toEqual(ms);
  if (says !== undefined) expect(errorOf(result)).toMatch(typeof says === 'function' ? says(ids) : says);
  if (requests !== undefined) expect(paths).toHaveLength(requests);
  const idleIds = idle?.map((project) => projectIds[project]);
  if (idleIds !== undefined) expect(result.outputs['idle-project-ids']).toBe(JSON.stringify(idleIds));
  return {
    ...stage,
    /** Of the operations that were planned, in the order of their start. */
    ids,
    result,
    /** When the requests arrived whose path contains this. */
    timesOf: (part = '') => times.filter((_, n) => paths[n]?.includes(part)),
  };
}

export const expectAllEnd = (context: TestContext, end: string | End, ...[plans, inputs, options]: WaitArguments) =>
  expectEnd(context, end, plans, { ...all, ...inputs }, options);
