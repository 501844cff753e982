import { codeHtml, maxRows, truncatedTable } from '../action/markdown.js';
import type { OperationTexts } from './description.js';

/** `project` is set only if the table shows operations of several projects. */
export type OperationRow = OperationTexts & { readonly project?: string | undefined };

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

type Column = readonly [heading: string, cell: (row: OperationRow) => string];

const columns: readonly Column[] = [
  ['Status', ({ phase, status }) => `${signs[phase]}&nbsp;${codeHtml(status)}`],
  ['Action', ({ action }) => codeHtml(action)],
  ['Branch', ({ branch }) => codeHtml(branch)],
  ['Duration', ({ duration }) => duration],
  ['Operation', ({ id }) => codeHtml(id)],
];
/** A table leaves out such a column if no row has a value for it. The other columns always stay. */
const rareColumns: readonly Column[] = [
  ['Failures', ({ failures }) => (failures === '0' ? '' : codeHtml(failures))],
  ['Project', ({ project = '' }) => codeHtml(project)],
  ['The service says', ({ reason }) => codeHtml(reason)],
];

export function operationTable<T>(all: readonly T[], toRow: (one: T) => OperationRow): string {
  const rows = all.slice(0, maxRows).map(toRow);
  const shown = [...columns, ...rareColumns.filter(([, cell]) => rows.some((row) => cell(row) !== ''))];
  const headings = shown.map(([heading]) => heading);
  return truncatedTable(headings, all, (one) => shown.map(([, cell]) => cell(toRow(one))));
}
