import type { drawInterruption } from './draw/faults.js';
import type { drawPlan, drawStep, kinds } from './draw/plan.js';
import type { Stage } from './stage.js';

export type Interruption = NonNullable<ReturnType<typeof drawInterruption>>;

/** The network fails, or its ingress responds with this status. Milliseconds of the run. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly how: 'refused' | 'silent' | 'page' | 'proxy' | 'status';
  readonly status: number;
}

export type Plan = ReturnType<typeof drawPlan>['plan'];
export type StepPlan = ReturnType<typeof drawStep>;

/** The task of a step, as its drawer knows it. The judges do not parse inputs. */
export type Expectation = ReturnType<(typeof kinds)[keyof typeof kinds][0]>['expects'];
export type Of<M extends Expectation['mode']> = Extract<Expectation, { mode: M }>;

/** Something that others do during the run. */
export interface OutsideEvent {
  readonly atMs: number;
  readonly what: string;
  readonly run: (stage: Stage) => void;
}

export const ownRun = '7700';
export const githubToken = 'ghs_tokenOfTheJobThatNobodyMaySee';
