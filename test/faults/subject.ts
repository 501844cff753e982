import type { FaultRule, RunningControlPlane, ServedControlPlaneOptions } from '../control-plane/index.js';
import type { RunningGitHub } from '../github/index.js';
import type { Inputs } from '../runner/environment.js';
import type { Account } from './account.js';
import type { Place } from './cell.js';

/** The world that a run finds. */
export interface Services {
  readonly control: RunningControlPlane;
  readonly github: RunningGitHub;
  readonly projectId: string;
}

/** What a step is asked for in a world of its own, and how to see whether that is true. */
export interface Setting {
  readonly inputs: Inputs;
  /** Ids of the keys that were there before and that it may revoke. */
  readonly mayRevoke?: readonly string[];
  /** What a step that ended green claims, and is not so. */
  falsehood(account: Account): string | undefined;
}

/** A mode in a situation of its own: a block of rows of the table. */
export interface Subject {
  readonly name: string;
  /** `timeout`, in seconds; 10 when not given: five tries of a request fit in. */
  readonly timeout?: number;
  readonly service?: ServedControlPlaneOptions;
  set(services: Services): Setting;
  /** Faults that bring the situation about. */
  readonly inMain?: readonly FaultRule[];
  readonly inPost?: readonly FaultRule[];
  /** Main is killed when its first request has come. */
  readonly isKilled?: boolean;
  readonly hasPost?: boolean;
  /** Given to post in place of main's. */
  readonly inputsOfPost?: Inputs;
  /** Only of these exchanges cells are made; of all when not given. */
  isPlace?(place: Place): boolean;
  /** Whether a failure there is tried again. */
  repeats?(place: Place): boolean;
}
