import { codeHtml } from '../action/markdown.js';
import type { OperationTexts } from './description.js';

/** `project` is set only if the table shows operations of several projects. */
export interface OperationRow extends OperationTexts {
  readonly project?: string | undefined;
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
