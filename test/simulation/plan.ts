import type { FaultRule } from '../../control-plane/index.js';
import { modes as definitions } from '../../src/modes/index.js';
import type { LookupFailure, RunState } from '../../src/modes/sweep-keys/workflow-runs.js';
import type { drawOutages, drawRunnerFault } from './draw/faults.js';
import type { Stage } from './stage.js';

export type Mode = keyof typeof definitions;
export const modes = Object.keys(definitions) as Mode[];

/** When a process is interrupted: so long after its start, or at its n-th request, response or message to the runner. */
export type Moment =
  | { readonly on: 'time'; readonly ms: number }
  | { readonly on: 'request' | 'response' | 'message'; readonly nth: number }
  /** This many milliseconds after the arrival of the n-th request that has a fault. */
  | { readonly on: 'fault'; readonly nth: number; readonly ms: number };

export interface Interruption {
  readonly what: 'kill' | 'signal';
  readonly moment: Moment;
}

export type Outage = ReturnType<typeof drawOutages>[number];

export interface StepPlan {
  readonly mode: Mode;
  readonly startsAtMs: number;
  readonly inputs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds. 0: the step polls once. */
  readonly timeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly interruption: Interruption | undefined;
  readonly runnerFault: ReturnType<typeof drawRunnerFault>;
  /** Milliseconds that the runner's clock is ahead of the service's. */
  readonly clockAheadMs: number;
  readonly post: Pick<StepPlan, 'inputs' | 'environment' | 'interruption'> & {
    readonly afterMs: number;
  };
  readonly expects: Expectation;
}

export type RecordFilter = (record: Readonly<Record<string, unknown>>) => boolean;

interface List<M extends Mode> {
  readonly mode: M;
  readonly limit: number;
  readonly isLimitSet: boolean;
  readonly filter: RecordFilter;
  readonly failOn: string;
}

/** The task of the step, as its drawer knows it. The invariants do not parse inputs. */
export type Expectation =
  | {
      readonly mode: 'wait-operation';
      readonly ids: readonly string[] | 'all';
      /** One, if ids are given. */
      readonly projectIds: readonly string[];
      readonly failFast: boolean;
      readonly filter: RecordFilter;
      /** Only in a wait for all. */
      readonly sinceMs: number | undefined;
      readonly failOnEmpty: boolean;
    }
  | (List<'list-operations'> & {
      readonly projectId: string;
      readonly sinceMs: number | undefined;
    })
  | List<'list-projects'>
  | List<'list-keys'>
  | { readonly mode: 'create-key'; readonly revokes: boolean; readonly fails: boolean; readonly exportsTo: string }
  | { readonly mode: 'revoke-key'; readonly ids: readonly string[] | undefined; readonly name: string | undefined }
  | { readonly mode: 'sweep-keys'; readonly dryRun: boolean; readonly olderThanMs: number };

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

export interface Plan {
  readonly seed: number;
  /** Jobs run at the same time. The steps of a job start together, and its post steps follow when all have ended. */
  readonly jobs: readonly (readonly StepPlan[])[];
  readonly faults: readonly FaultRule[];
  readonly outages: readonly Outage[];
  readonly events: readonly OutsideEvent[];
  readonly runs: ReadonlyMap<string, GitHubRun>;
}

/** The workflow run of the steps. */
export const ownRun = '7700';
export const githubToken = 'ghs_tokenOfTheJobThatNobodyMaySee';
