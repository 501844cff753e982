import type { OperationRow } from '../../words/operation.js';
import { code } from './markdown.js';

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

export const operationHeadings = ['Status', 'Action', 'Branch', 'Length', 'Failures', 'Operation'];

export function operationCells({ phase, action, branch, status, length, failures, id }: OperationRow): string[] {
  return [
    `${signs[phase]}&nbsp;${code(status)}`,
    code(action),
    code(branch),
    length,
    /^\d*$/.test(failures) ? failures : code(failures),
    code(id),
  ];
}
