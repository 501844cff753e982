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

/**
 * The texts about an operation in the summary. They are sanitized, but not yet escaped. `projectId` is set only if the table
 * shows operations of several projects.
 */
export function operationRow(operation: Operation, nowMs: number, projectId?: string) {
  return {
    id: sanitizeId(operation.id),
    project: projectId === undefined ? undefined : sanitizeId(projectId),
    phase: phaseForStatus(operation.status),
    action: operationAction(operation),
    branch: operationBranch(operation),
    status: operationStatus(operation),
    duration: operationDuration(operation, nowMs) ?? '',
    failures: operationFailures(operation),
    span: operationSpan(operation, nowMs),
  };
}

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

export function operationHeadings(hasProjects: boolean): string[] {
  return ['Status', 'Action', 'Branch', 'Duration', 'Failures', 'Operation', ...(hasProjects ? ['Project'] : [])];
}

export function operationCells(row: OperationRow): string[] {
  const { phase, action, branch, status, duration, failures, id, project } = row;
  return [
    `${signs[phase]}&nbsp;${codeHtml(status)}`,
    codeHtml(action),
    codeHtml(branch),
    duration,
    /^\d*$/.test(failures) ? failures : codeHtml(failures),
    codeHtml(id),
    ...(project === undefined ? [] : [codeHtml(project)]),
  ];
}
