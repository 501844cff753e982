import { codeHtml } from '../action/markdown.js';
import type { Operation } from '../api/records.js';
import { sanitizeId } from '../text/sanitize-line.js';
import {
  operationAction,
  operationBranch,
  operationDuration,
  operationFailures,
  operationSpan,
  operationStatus,
  phaseForStatus,
} from './description.js';

export type OperationRow = ReturnType<typeof operationRow>;

/** The texts about an operation in the summary. They are sanitized, but not yet escaped. */
export function operationRow(operation: Operation, nowMs: number) {
  return {
    id: sanitizeId(operation.id),
    phase: phaseForStatus(operation.status),
    action: operationAction(operation),
    branch: operationBranch(operation) ?? '',
    status: operationStatus(operation),
    duration: operationDuration(operation, nowMs) ?? '',
    failures: operationFailures(operation) ?? '',
    span: operationSpan(operation, nowMs),
  };
}

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

export const operationHeadings = ['Status', 'Action', 'Branch', 'Duration', 'Failures', 'Operation'];

export function operationCells({ phase, action, branch, status, duration, failures, id }: OperationRow): string[] {
  return [
    `${signs[phase]}&nbsp;${codeHtml(status)}`,
    codeHtml(action),
    codeHtml(branch),
    duration,
    /^\d*$/.test(failures) ? failures : codeHtml(failures),
    codeHtml(id),
  ];
}
