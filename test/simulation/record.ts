import type { HttpResponse } from '../../src/http/exchange.js';
import type { Endpoint, Exchange, Fault } from '../control-plane/index.js';
import type { Forgery, Plan, StepPlan } from './plan.js';
import type { Stage } from './stage.js';

/** A request of a process, and its result. Times are milliseconds of the run. */
export interface SentRequest {
  readonly n: number;
  readonly at: number;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly authorization: string;
  /** Empty if the service closed the connection before it read the body. */
  readonly body: string;
  readonly endpoint: Endpoint | 'other';
  /** The service's own record of it, if it arrived. */
  arrived: Exchange | undefined;
  fault: Fault['kind'] | 'closed-on-arrival' | 'outage' | undefined;
  response: HttpResponse | undefined;
  /** Why there is no response. */
  error: string | undefined;
  /** For all that the client can know. */
  mayHaveTakenEffect: boolean;
  endedAt: number | undefined;
}

export type MessageKind =
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

/** What a process prints, or writes to the files of the runner. */
export interface Message {
  readonly at: number;
  readonly kind: MessageKind;
  readonly name: string;
  readonly text: string;
}

export interface ProcessRecord {
  readonly part: 'main' | 'post';
  readonly startedAt: number;
  readonly sent: SentRequest[];
  readonly messages: Message[];
  endedAt: number;
  /** `hung`: the process had to be killed. */
  exit: 0 | 1 | 'killed' | 'hung';
  signalledAt: number | undefined;
  crash: string | undefined;
  resultFile: string | undefined;
  /** Whether the runner did not accept a message. */
  runnerFailed: boolean;
  /** Defects that only the way of running shows: a command file that the runner rejects, a secret in stderr. */
  readonly problems: string[];
}

export interface StepRecord {
  readonly plan: StepPlan;
  main: ProcessRecord;
  post: ProcessRecord | undefined;
  /** As main left it. */
  state: string;
}

/** A whole run, seen from outside. */
export interface Run {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly steps: readonly StepRecord[];
}

export function newRecord(part: ProcessRecord['part'], startedAt: number): ProcessRecord {
  return {
    part,
    startedAt,
    sent: [],
    messages: [],
    endedAt: Number.NaN,
    exit: 1,
    signalledAt: undefined,
    crash: undefined,
    resultFile: undefined,
    runnerFailed: false,
    problems: [],
  };
}

/** The forged state that post was given, because main saved none. */
export function forgeryIn({ state, plan }: StepRecord): Forgery | undefined {
  return state === '' ? plan.post.forgery : undefined;
}

export function processesOf({ main, post }: StepRecord): ProcessRecord[] {
  return post === undefined ? [main] : [main, post];
}

/** Without a post whose state was forged: the step is not responsible for that. */
export function ownProcessesOf(step: StepRecord): ProcessRecord[] {
  return forgeryIn(step) === undefined ? processesOf(step) : [step.main];
}

/** The header with the key that main was given. */
export function parentOf({ plan: { inputs, environment } }: StepRecord): string {
  return `Bearer ${inputs['api-key'] ?? environment['CTL_API_KEY']}`;
}

export function output({ messages }: ProcessRecord, name: string): string | undefined {
  return messages.findLast((message) => message.kind === 'output' && message.name === name)?.text;
}

export function idsIn(process: ProcessRecord, name: string): string[] {
  return JSON.parse(output(process, name) || '[]');
}

export function texts({ messages }: ProcessRecord, ...kinds: MessageKind[]): string[] {
  return messages.flatMap(({ kind, text }) => (kinds.includes(kind) ? [text] : []));
}
