import type { Operation } from '../api/records.js';
import { actionOf, branchOf, failuresOf, lengthInWords, spanOf, statusOf } from '../modes/operations/describe.js';
import { type Phase, phaseOf } from '../modes/operations/status.js';
import { plain } from '../text/plain.js';

/** An operation in the summary. All texts are sanitized, but not yet escaped. */
export interface OperationRow {
  readonly id: string;
  readonly phase: Phase;
  readonly action: string;
  readonly branch: string;
  readonly status: string;
  readonly length: string;
  readonly failures: string;
  readonly span: { readonly from: number; readonly to: number } | undefined;
}

export function operationRowOf(operation: Operation, date: number): OperationRow {
  return {
    id: plain(operation.id, 80),
    phase: phaseOf(operation.status),
    action: actionOf(operation),
    branch: branchOf(operation) ?? '',
    status: statusOf(operation),
    length: lengthInWords(operation, date) ?? '',
    failures: failuresOf(operation) ?? '',
    span: spanOf(operation, date),
  };
}
