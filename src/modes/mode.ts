import type { InputReader } from '../action/inputs/input-reader.js';
import type { StepReport } from '../action/publish.js';
import type { ControlApi } from '../api/control-api.js';
import type { Log } from '../api/log.js';
import { Cooldown, exponentialBackoff, type RequestPolicy } from '../http/retry.js';
import { sentences } from '../text/sentences.js';
import type { Deadline } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import type { KeyState, PostStateStore } from './create-key/create-key.js';
import type { WorkflowRuns } from './sweep-keys/run-lookups.js';

export interface Collaborators {
  readonly api: ControlApi;
  /** Unbounded with `timeout: 0`: each request is then sent once, without retries. */
  readonly deadline: Deadline;
  readonly log: Log;
  readonly random: () => number;
}

/** What single modes need beside the collaborators. */
export interface Services {
  readonly postState: PostStateStore;
  /** Masks the token. */
  readonly workflowRuns: (token: string, repository: string) => Promise<WorkflowRuns>;
  /** Milliseconds for one request to another service than the control API. */
  readonly requestTimeout: number;
}

export interface ReportFacts {
  /** Milliseconds: the timeout of the step. */
  readonly timeout: number;
  /** Milliseconds since 1970, on the service's clock, at the end of the run. */
  readonly nowMs: number;
}

export interface Mode<Settings, Result> {
  /** Returns undefined if an input is invalid. It never falls back to a default. */
  readonly readSettings: (reader: InputReader) => Settings | undefined;
  readonly run: (settings: Settings, collaborators: Collaborators, services: Services) => Promise<Result>;
  readonly report: (result: Result, settings: Settings, facts: ReportFacts) => StepReport;
  readonly stateAfterOutputs?: (result: Result, settings: Settings) => KeyState | undefined;
}

/** Runs a mode whose settings are read. `timeout`: of the step, in milliseconds. */
export type RunMode = (
  collaborators: Collaborators,
  services: Services,
  timeout: number,
) => Promise<{ readonly report: StepReport; readonly stateAfterOutputs?: KeyState | undefined }>;

/** Hides the types of a mode's settings and result. The compiler still checks that its functions agree on them. */
export function define<Settings, Result>(mode: Mode<Settings, Result>): (reader: InputReader) => RunMode | undefined {
  return (reader) => {
    const settings = mode.readSettings(reader);
    if (settings === undefined) return undefined;
    return async (collaborators, services, timeout) => {
      const result = await mode.run(settings, collaborators, services);
      const nowMs = collaborators.api.serviceEpochMs(collaborators.deadline.clock);
      return {
        report: mode.report(result, settings, { timeout, nowMs }),
        stateAfterOutputs: mode.stateAfterOutputs?.(result, settings),
      };
    };
  };
}

/** 5 attempts, after a 423 or 429 until the deadline: promises of the contract. Parallel requests share one cooldown. */
export function defaultPolicy({ deadline, random, log }: Omit<Collaborators, 'api'>): RequestPolicy {
  return {
    deadline,
    retry: exponentialBackoff(random),
    cooldown: new Cooldown(),
    onRetry: (error, pause) => log.info(sentences(error.message, `Retrying in ${formatDuration(pause)}.`)),
  };
}
