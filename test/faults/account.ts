import type { ApiKey, Exchange } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import type { Cell } from './cell.js';
import type { Setting, Subject } from './subject.js';

/** One process of a run, and what the control plane saw of it. */
export interface Ran {
  readonly stage: 'main' | 'post';
  readonly result: StepResult;
  readonly exchanges: readonly Exchange[];
  /** In milliseconds since 1970. */
  readonly began: number;
  /** Milliseconds from its start within which it has to end by itself. */
  readonly deadline: number;
  /** When it got a signal, in milliseconds since its start. */
  readonly signalled: number | undefined;
}

/** Of a key that the run made. */
export interface Made {
  readonly key: ApiKey;
  readonly isAlive: boolean;
  /** The service made it when its request had been given up already. */
  readonly isLate: boolean;
}

/** All that is known of one run when its processes have ended: what the invariants are asked about. */
export interface Account {
  readonly subject: Subject;
  readonly setting: Setting;
  /** None: the clean run. */
  readonly cell: Cell | undefined;
  readonly main: Ran;
  readonly post: Ran | undefined;
  readonly made: readonly Made[];
  /** What was alive when main had ended. */
  readonly aliveBetween: readonly ApiKey[];
  /** Keys that were there before, of which none was to be touched, and which are gone. */
  readonly harmed: readonly string[];
  readonly parentKey: string;
  readonly secretsOfOthers: readonly string[];
  readonly askedOfGitHub: readonly Exchange[];
}

export function processesOf({ main, post }: Account): Ran[] {
  return post === undefined ? [main] : [main, post];
}

export function exchangesOf(account: Account): Exchange[] {
  return processesOf(account).flatMap(({ exchanges }) => exchanges);
}

/** Whether the service answered as it should, though it may have been slow. */
export function isSound({ fault, status, endedAt }: Exchange): boolean {
  const isWhole = fault === undefined || ['delay', 'drip', 'close-on-next-request'].includes(fault);
  return isWhole && status === 200 && endedAt !== undefined;
}
