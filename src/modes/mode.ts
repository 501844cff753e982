import type { InputReader } from '../action/inputs/input-reader.js';
import type { StepReport } from '../action/step-report.js';
import type { ControlApi, Log } from '../api/control-api.js';
import type { Rate } from '../http/rate.js';
import type { KeyState } from '../keys/post-state.js';
import type { Deadline } from '../time/deadline.js';
import type { FindRun } from './sweep-keys/workflow-runs.js';

export interface Collaborators {
  readonly api: ControlApi;
  /** With `timeout: 0` it never expires. */
  readonly deadline: Deadline;
  readonly rate: Rate;
  readonly log: Log;
  readonly random: () => number;
}

/** What only some modes need. */
export interface Services {
  /** Masks the new key of a state, then saves the state for post. The mode calls this before any other use of the key. */
  readonly savePostState: (state: KeyState) => void;
  readonly mask: (secrets: readonly string[]) => void;
  /** Masks the token, and returns a function that reads the workflow runs of the repository. */
  readonly workflowRuns: (token: string, repository: string) => Promise<FindRun>;
}

export interface ReportFacts {
  /** In milliseconds. */
  readonly timeout: number;
  /** The service's clock when the mode ended, in milliseconds since 1970. */
  readonly nowMs: number;
}

interface Mode<Settings, Result> {
  readonly read: (reader: InputReader) => Settings;
  readonly run: (settings: Settings, collaborators: Collaborators, services: Services) => Promise<Result>;
  readonly report: (result: Result, settings: Settings, facts: ReportFacts) => StepReport;
  /** The post state to save after the outputs are written. Undefined keeps the saved one. */
  readonly stateAfterOutputs?: (result: Result, settings: Settings) => KeyState | undefined;
  readonly acceptsZeroTimeout?: boolean;
  /** True for a mode whose result says whether the deadline or a cancel ended it. */
  readonly concludesItself?: boolean;
}

/** Gives all modes the same type. */
export function define<Settings, Result>(mode: Mode<Settings, Result>) {
  return {
    acceptsZeroTimeout: mode.acceptsZeroTimeout ?? false,
    read: (reader: InputReader) => {
      const settings = mode.read(reader);
      return async (collaborators: Collaborators, services: Services, timeout: number) => {
        const result = await mode.run(settings, collaborators, services);
        const { api, deadline } = collaborators;
        const report = mode.report(result, settings, { timeout, nowMs: api.serviceEpochMs(deadline.clock) });
        if (report.succeeded && !mode.concludesItself) await deadline.check();
        return { report, stateAfterOutputs: mode.stateAfterOutputs?.(result, settings) };
      };
    },
  };
}
