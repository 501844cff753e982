import { codeHtml } from '../../action/markdown.js';
import type { StepReport } from '../../action/step-report.js';
import { fieldTime } from '../../api/records.js';
import { operationTexts, type Phase } from '../../operations/description.js';
import { type OperationRow, operationTable } from '../../operations/table.js';
import { printJson } from '../../text/json.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import { waitMessages } from './messages.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';
import type { WaitResult } from './wait-result.js';

export function waitReport(result: WaitResult, settings: WaitSettings, facts: ReportFacts): StepReport {
  const { projectIds } = settings;
  const ids = result.operations.map(({ id }) => id);
  const records = result.operations.flatMap(({ operation }) => operation?.record ?? []);
  const deciding = decidingId(result) ?? '';
  const rows = operationRows(result, settings, facts);
  const idle = 'all' in settings.target ? result.idleProjects : undefined;
  // If the step found nothing to wait for, the notice already names the projects.
  const isNamed = rows.length === 0 && idle !== undefined && ['finished', 'empty'].includes(result.verdict);
  const projects = joinFirst(projectIds.map((id) => codeHtml(sanitizeId(id))));
  const where = projectIds.length === 1 ? `Project ${projects}` : `${projectIds.length} projects: ${projects}`;
  const waited = isNamed ? 'Waited' : `${where}, waited`;
  const table = operationTable(rows, (row) => row);
  return {
    ...waitMessages(result, { ...settings, ...facts }),
    status: result.verdict,
    succeeded: result.verdict === 'finished',
    outputs: [
      { name: 'count', value: String(records.length) },
      { name: 'operation-id', value: deciding },
      { name: 'operation-ids', value: JSON.stringify(ids), rank: 2 },
      { name: 'operations', value: printJson(records), rank: 1, holdsRecords: true },
      ...(idle === undefined ? [] : [{ name: 'idle-project-ids', value: JSON.stringify(idle), rank: 2 }]),
    ],
    result: [
      printJson({
        mode: 'wait-operation',
        status: result.verdict,
        count: records.length,
        project_ids: projectIds,
        operation_id: deciding,
        operation_ids: ids,
        operations: records,
        idle_project_ids: idle,
      }),
    ],
    details: `<p>${waited} ${formatDuration(result.elapsed)}.${cutHtml(result, projectIds.length)}</p>\n${table}\n${timeline(rows)}`,
  };
}

function cutHtml({ cutProjects, cutAfter }: WaitResult, projects: number): string {
  if (cutProjects.length === 0) return '';
  const some = joinFirst(cutProjects.map((id) => codeHtml(sanitizeId(id))));
  return ` Only the newest ${cutAfter.toLocaleString('en')} operations${projects === 1 ? '' : ` of ${some}`} were read. The list has more.`;
}

/** Operations that need attention come first. */
const rowOrder: readonly Phase[] = ['failed', 'pending', 'succeeded'];

function operationRows({ operations }: WaitResult, { projectIds }: WaitSettings, { nowMs }: ReportFacts) {
  const rows = operations.map(({ id, projectId, operation }): OperationRow => {
    const shown = operation ?? { id, status: 'no status yet', record: { action: '' } };
    return { ...operationTexts(shown, nowMs), project: projectIds.length > 1 ? sanitizeId(projectId) : undefined };
  });
  return rows.sort((one, other) => rowOrder.indexOf(one.phase) - rowOrder.indexOf(other.phase));
}

/** The id of the operation that decided the result, or of the newest operation. */
function decidingId({ verdict, operations, failedId }: WaitResult): string | undefined {
  const requested = operations.find(({ id }) => id === failedId);
  // If the verdict is `finished`, nothing is pending, so this is undefined.
  const decided = verdict === 'failed' ? operations.find(isFailed) : (requested ?? operations.find(isPending));
  const createdAt = ({ operation }: TrackedOperation) => (operation && fieldTime(operation, 'created_at')) ?? 0;
  return (decided ?? operations.toSorted((one, other) => createdAt(other) - createdAt(one))[0])?.id;
}

const maxBars = 30;
/** The distance between two labels of the time axis. By default, Mermaid draws up to 22 labels, and they overlap. */
const tickIntervals = [
  ['5second', 5_000],
  ['30second', 30_000],
  ['5minute', 300_000],
  ['1hour', 3_600_000],
] as const;
const maxTicks = 8;
const tags = { failed: 'crit, ', pending: 'active, ', succeeded: 'done, ' };

/** A Mermaid chart of the times when operations ran. Empty for fewer than two operations. */
function timeline(rows: readonly OperationRow[]): string {
  const bars = rows.flatMap(({ span, ...row }) => (span === undefined ? [] : [{ ...row, ...span }]));
  if (bars.length < 2) return '';
  const shown = bars.slice(0, maxBars).sort((one, other) => one.from - other.from);
  const first = Math.min(...shown.map(({ from }) => from));
  const last = Math.max(...shown.map(({ to }) => to));
  // Mermaid does not draw a bar of length 0, so each bar gets at least 1 % of the width.
  const shortest = Math.max(1, Math.ceil((last - first) / 100));
  const lines = shown.map(({ phase, status, action, branch, from, to }, index) => {
    // The label names the status, because not every reader can tell the colours apart.
    const label = [index + 1, ...[status, action, branch].map(mermaidWord)].join(' ').trim();
    return `  ${label} :${tags[phase]}${from}, ${Math.max(to, from + shortest)}`;
  });
  const ticks = tickIntervals.find(([, ms]) => last - first <= ms * maxTicks)?.[0] ?? '1day';
  const axis = ['  dateFormat x', '  axisFormat %H:%M:%S', `  tickInterval ${ticks}`];
  return ['```mermaid', 'gantt', ...axis, ...lines, '```', ''].join('\n');
}

/** Keeps only characters without a special meaning in Mermaid. No label is a keyword, because labels begin with a number. */
function mermaidWord(text: string): string {
  return (text.match(/[\w.-]+/g) ?? []).join(' ').slice(0, 40);
}
