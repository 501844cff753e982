import type { HttpResponse } from '../../src/http/exchange.js';
import type { Endpoint, Exchange, Fault } from '../control-plane/index.js';
import type { Forgery, Plan, StepPlan } from './plan.js';
import type { Stage } from './stage.js';

/** A request that a process sent, and what became of it. Times are milliseconds of the run. */
export interface Sent {
  readonly n: number;
  readonly at: number;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
  readonly endpoint: Endpoint | 'other';
  /** The service's own record of it, if it arrived. */
  arrived: Exchange | undefined;
  fault: Fault['kind'] | 'closed-on-arrival' | 'outage' | undefined;
  answer: HttpResponse | undefined;
  /** Why there is no answer. */
  broken: string | undefined;
  /** Whether the service may have carried it out, for all that the client can know. */
  mayBeDone: boolean;
  endedAt: number | undefined;
}

export type WordKind =
  | 'mask'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'debug'
  | 'output'
  | 'state'
  | 'variable'
  | 'summary';

/** What a process says to the runner. */
export interface Word {
  readonly at: number;
  readonly kind: WordKind;
  readonly name: string;
  readonly text: string;
}

export interface ProcessRecord {
  readonly part: 'main' | 'post';
  readonly step: number;
  readonly startedAt: number;
  readonly sent: Sent[];
  readonly words: Word[];
  endedAt: number;
  /** `hung`: it had to be ended from outside. */
  exit: 0 | 1 | 'killed' | 'hung';
  signalledAt: number | undefined;
  crash: string | undefined;
  /** What it left in the folder of the runner. */
  resultFile: string | undefined;
  /** Whether the runner refused to take something. */
  runnerFailed: boolean;
}

export interface StepRecord {
  readonly plan: StepPlan;
  main: ProcessRecord;
  post: ProcessRecord | undefined;
  /** As main left it. */
  state: string;
}

/** All of one run, as it was from outside. */
export interface Run {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly steps: readonly StepRecord[];
}

/** The forged state that post was given, because main saved none. */
export function forgeryIn({ state, plan }: StepRecord): Forgery | undefined {
  return state === '' ? plan.post.forgery : undefined;
}

/** All but a post whose state was forged: what that does is not of this step. */
export function ownProcessesOf(step: StepRecord): ProcessRecord[] {
  return forgeryIn(step) === undefined ? processesOf(step) : [step.main];
}

export function output({ words }: ProcessRecord, name: string): string | undefined {
  return words.findLast((word) => word.kind === 'output' && word.name === name)?.text;
}

export function said({ words }: ProcessRecord, ...kinds: WordKind[]): Word[] {
  return words.filter(({ kind }) => kinds.includes(kind));
}

export function processesOf({ main, post }: StepRecord): ProcessRecord[] {
  return post === undefined ? [main] : [main, post];
}
