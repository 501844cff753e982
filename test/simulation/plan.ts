import type { FaultRule } from '../control-plane/index.js';
import type { Stage } from './stage.js';
import type { Known } from './virtual-github.js';

export const modes = [
  'wait-operation',
  'list-operations',
  'list-projects',
  'list-keys',
  'create-key',
  'revoke-key',
  'sweep-keys',
] as const;
export type Mode = (typeof modes)[number];

/** When something strikes a process: so long after its start, or with the n-th thing that it does or that comes to it. */
export type Moment =
  | { readonly on: 'time'; readonly ms: number }
  | { readonly on: 'request' | 'answer' | 'word'; readonly nth: number }
  /** So long after the n-th request that meets a fault has arrived. */
  | { readonly on: 'fault'; readonly nth: number; readonly ms: number };

export interface Interruption {
  readonly what: 'kill' | 'signal';
  readonly moment: Moment;
}

/** What the runner does not take, from the n-th time on. */
export interface RunnerFault {
  readonly word: 'output' | 'state' | 'variable' | 'summary' | 'result-file';
  readonly from: number;
}

/** The network between the process and the service, for a time or for ever; milliseconds of the run. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly how: 'refused' | 'silent' | 'proxy';
}

export interface PostPlan {
  readonly afterMs: number;
  readonly inputs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly interruption: Interruption | undefined;
  readonly forgery: Forgery | undefined;
}

/** A state that another step of the job sets for post through `GITHUB_ENV`. */
export interface Forgery {
  readonly text: string;
  /** The key in it. */
  readonly secret: string | undefined;
  /** The origin of its address, if main would accept that address. */
  readonly mayBeSentTo: string | undefined;
}

export interface StepPlan {
  readonly mode: Mode;
  readonly startsAtMs: number;
  readonly inputs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds; 0: look once. */
  readonly timeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly interruption: Interruption | undefined;
  readonly runnerFault: RunnerFault | undefined;
  /** Milliseconds that the runner's clock is ahead of the service's. */
  readonly clockAheadMs: number;
  readonly post: PostPlan;
  readonly expects: Expectation;
}

/** What the step was asked for, in the words of the one who drew it: the invariants do not read inputs again. */
export type Expectation =
  | {
      readonly mode: 'wait-operation';
      readonly ids: readonly string[] | 'all';
      /** With ids: one. */
      readonly projectIds: readonly string[];
      readonly failFast: boolean;
      readonly filter: Wish;
      /** Of a wait for all. */
      readonly sinceMs: number | undefined;
      readonly failOnEmpty: boolean;
    }
  | {
      readonly mode: 'list-operations';
      readonly projectId: string;
      readonly limit: number;
      readonly isLimitSet: boolean;
      /** Whether each operation has an id that can be used. */
      readonly areIdsUsable: boolean;
      readonly sinceMs: number | undefined;
      readonly filter: Wish;
      readonly failOn: string;
    }
  | {
      readonly mode: 'list-projects';
      readonly limit: number;
      readonly isLimitSet: boolean;
      readonly maxBatches: number;
      readonly shard: string;
      readonly filter: Wish;
      readonly failOn: string;
    }
  | {
      readonly mode: 'list-keys';
      readonly limit: number;
      readonly isLimitSet: boolean;
      readonly filter: Wish;
      readonly failOn: string;
    }
  | { readonly mode: 'create-key'; readonly revokes: boolean; readonly fails: boolean; readonly exportsTo: string }
  | { readonly mode: 'revoke-key'; readonly ids: readonly string[] | undefined; readonly name: string | undefined }
  | { readonly mode: 'sweep-keys'; readonly dryRun: boolean; readonly olderThanMs: number; readonly ownRun: string };

/** What a filter admits, as a function of the record rather than as a pattern. */
export type Wish = (record: Readonly<Record<string, unknown>>) => boolean;

/** Something that others do meanwhile. */
export interface Act {
  readonly atMs: number;
  readonly what: string;
  readonly act: (stage: Stage) => void;
}

export interface Plan {
  readonly seed: number;
  readonly steps: readonly StepPlan[];
  readonly faults: readonly FaultRule[];
  readonly outages: readonly Outage[];
  readonly acts: readonly Act[];
  readonly runs: ReadonlyMap<string, Known>;
}
