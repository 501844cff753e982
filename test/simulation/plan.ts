import { modes as definitions } from '../../src/modes/index.js';
import type { LookupFailure, RunState } from '../../src/modes/sweep-keys/workflow-runs.js';
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
  readonly how: 'refused' | 'silent' | 'page' | 'error' | 'proxy';
  readonly status: number;
}

export type StepPlan = ReturnType<typeof drawStep>;

/** The task of the step, as its drawer knows it. The invariants do not parse inputs. */
export type Expectation = ReturnType<(typeof kinds)[Mode][0]>['expects'];
export type Of<M extends Mode> = Extract<Expectation, { mode: M }>;

/** Something that others do during the run. */
export interface OutsideEvent {
  readonly atMs: number;
  readonly what: string;
  readonly run: (stage: Stage) => void;
}

/** A workflow run, and how GitHub responds about it. */
export interface GitHubRun {
  readonly state: RunState;
  /** The first `times` responses, in place of the state. */
  readonly first?: 'gone' | 'hangs' | LookupFailure;
  readonly times: number;
  /** Of the run of the steps: so many responses later the token cannot see any run. */
  readonly hiddenAfter?: number;
}

export type Plan = ReturnType<typeof drawPlan>['plan'];

export const ownRun = '7700';
export const githubToken = 'ghs_tokenOfTheJobThatNobodyMaySee';
