import { codeHtml, maxRows, truncatedTable } from '../action/markdown.js';
import type { OperationTexts } from './description.js';

/** `project` is set only if the table shows operations of several projects. */
export interface OperationRow extends OperationTexts {
  readonly project?: string | undefined;
}

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

/** A column without any text is left out, except for those that users know from the console. */
export function operationTable<T>(
  all: readonly T[],
  toRow: (one: T) => OperationRow,
  describeRest?: (rest: readonly T[]) => string,
): string {
  const shown = all.slice(0, maxRows).map(toRow);
  const hasProject = shown.some(({ project }) => project !== undefined);
  const hasReason = shown.some(({ reason }) => reason !== '');
  const columns = ['Status', 'Action', 'Branch', 'Duration', 'Failures', 'Operation'];
  const headings = [...columns, ...(hasProject ? ['Project'] : []), ...(hasReason ? ['The service says'] : [])];
  return truncatedTable(
    headings,
    all,
    (one) => {
      const { phase, action, branch, status, duration, failures, id, project = '', reason } = toRow(one);
      return [
        `${signs[phase]}&nbsp;${codeHtml(status)}`,
        codeHtml(action),
        codeHtml(branch),
        duration,
        /^\d*$/.test(failures) ? failures : codeHtml(failures),
        codeHtml(id),
        ...(hasProject ? [codeHtml(project)] : []),
        ...(hasReason ? [codeHtml(reason)] : []),
      ];
    },
    describeRest,
  );
}
