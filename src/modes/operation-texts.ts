import { codeHtml, maxRows, truncatedTable } from '../action/markdown.js';
import { phaseForStatus } from '../api/operation-status.js';
import { displayText, fieldText, fieldTime, type Operation } from '../api/records.js';
import { isText } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';

/** Describes an operation. The texts are safe to print, but not escaped for HTML. The text of an unknown value is empty. */
export function operationTexts(operation: Operation, nowMs: number) {
  const action = sanitizeLine(fieldText(operation, 'action') ?? 'operation', 60);
  const branch = displayText(operation, 'branch_id', 80);
  const id = sanitizeId(operation.id);
  const phase = phaseForStatus(operation.status);
  const from = fieldTime(operation, 'created_at');
  const to = phase === 'pending' ? nowMs : fieldTime(operation, 'updated_at');
  return {
    id,
    action,
    branch,
    name: `${action}${branch === '' ? '' : ` on ${branch}`} [${id}]`,
    phase,
    status: sanitizeLine(operation.status, 40),
    failures: displayText(operation, 'failures_count', 20).replace(/^0$/, ''),
    reason: phase === 'failed' ? reasonOf(operation) : '',
    duration: from === undefined || to === undefined ? '' : formatDuration(Math.max(0, to - from)),
  };
}

/** Describes an operation in a message: `create_branch on br-1 [id] running for 5s`. */
export function operationText(operation: Operation, nowMs: number): string {
  const { name, status, phase, duration, reason } = operationTexts(operation, nowMs);
  const age = duration === '' ? '' : ` ${phase === 'pending' ? 'for' : 'after'} ${duration}`;
  return `${name} ${status}${age}${reason === '' ? '' : `, ${reason}`}`;
}

/** The reason that the service gives for a failure. The API does not document these fields, but similar services send them. */
function reasonOf(operation: Operation): string {
  const fields = ['error', 'error_message', 'message'].filter((name) => isText(operation.record[name]));
  const texts = fields.map((name) => `“${displayText(operation, name, 200)}”`);
  const retryAt = displayText(operation, 'retry_at', 40);
  return [...new Set(texts), ...(retryAt && [`retry at ${retryAt}`])].join(', ');
}

type Row = ReturnType<typeof operationTexts> & { readonly project?: string };

const signs = { failed: '❌', pending: '⏳', succeeded: '✅' };

/** A table leaves out a column if no row has a value for it. */
const columns: Readonly<Record<string, (row: Row) => string>> = {
  Status: ({ phase, status }) => `${signs[phase]}&nbsp;${codeHtml(status)}`,
  Action: ({ action }) => codeHtml(action),
  Branch: ({ branch }) => codeHtml(branch),
  Duration: ({ duration }) => duration,
  Failures: ({ failures }) => codeHtml(failures),
  Operation: ({ id }) => codeHtml(id),
  Project: ({ project = '' }) => codeHtml(project),
  'The service says': ({ reason }) => codeHtml(reason),
};

/** Only the rows that a table shows are described: a list can have thousands. */
export function operationTable<T>(all: readonly T[], toRow: (one: T) => Row): string {
  const rows = all.slice(0, maxRows).map(toRow);
  const shown = Object.entries(columns).filter(([, cell]) => rows.some((row) => cell(row) !== ''));
  const headings = shown.map(([heading]) => heading);
  return truncatedTable(headings, all, (one) => shown.map(([, cell]) => cell(toRow(one))));
}
