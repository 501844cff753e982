import type { RequestErrorOptions } from '../../http/errors.js';
import type { OnCancel } from '../../time/deadline.js';

/** `gone`: GitHub does not find the run. `attempt`: the latest attempt, if GitHub sends its number. */
export type RunState = { readonly attempt: number | undefined; readonly isCompleted: boolean } | 'gone';

export type LookupFailure = RequestErrorOptions & { readonly message: string };
export type LookupOutcome = { readonly run: RunState } | { readonly failure: LookupFailure };

export interface WorkflowRuns {
  find(id: string, onCancel: OnCancel): Promise<LookupOutcome>;
}
