import { modes as definitions } from '../../src/modes/index.js';
import type { drawInterruption } from './draw/faults.js';
import type { drawPlan, drawStep, kinds } from './draw/plan.js';
import type { Stage } from './stage.js';

/** The wait of send-request is that of wait-operation. */
export type Mode = Exclude<keyof typeof definitions, 'send-request'>;
export const modes = Object.keys(definitions).filter((mode) => mode !== 'send-request') as Mode[];

export type Interruption = NonNullable<ReturnType<typeof drawInterruption>>;

/** The network fails, or its ingress responds with this status. Milliseconds of the run. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly how: 'refused' | 'silent' | 'page' | 'proxy';
  readonly status: number;
}

export type Plan = ReturnType<typeof drawPlan>['plan'];
export type StepPlan = ReturnType<typeof drawStep>;

/** The task of a step, as its drawer knows it. The judges do not parse inputs. */
type Expectation = ReturnType<(typeof kinds)[keyof typeof kinds][0]>['expects'];
export type Of<M extends Mode> = Extract<Expectation, { mode: M }>;

/** Something that others do during the run. */
export interface OutsideEvent {
  readonly atMs: number;
  readonly what: string;
  readonly run: (stage: Stage) => void;
}

export const ownRun = '7700';
export const githubToken = 'ghs_tokenOfTheJobThatNobodyMaySee';
