import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { StepReport } from '../../action/publish.js';
import type { Phase } from '../../operations/description.js';
import { type OperationRow, operationCells, operationHeadings, operationRow } from '../../operations/table.js';
import { printJson } from '../../text/json.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import { waitMessages } from './messages.js';
import { timeline } from './timeline.js';
import { creationTime, isFailed, isPending, type TrackedOperation } from './tracked-operations.js';
import type { WaitResult } from './wait-result.js';
import type { WaitSettings } from './waiter.js';

export function waitReport(result: WaitResult, settings: WaitSettings, facts: ReportFacts): StepReport {
  const { projectIds } = settings;
  const ids = result.operations.map(({ id }) => id);
  const records = result.operations.flatMap(({ operation }) => operation?.record ?? []);
  const rows = operationRows(result, facts.nowMs);
  return {
    ...waitMessages(result, { ...settings, ...facts }),
    status: result.verdict,
    succeeded: result.verdict === 'finished',
    outputs: [
      { name: 'count', value: String(records.length) },
      { name: 'operation-id', value: decidingId(result) ?? '' },
      { name: 'operation-ids', value: JSON.stringify(ids), rank: 2 },
      { name: 'operations', value: printJson(records), rank: 1, holdsRecords: true },
    ],
    result: [
      printJson({
        mode: 'wait-operation',
        status: result.verdict,
        project_ids: projectIds,
        operation_ids: ids,
        operations: records,
      }),
    ],
    details: `<p>${projectsHtml(projectIds)}, waited ${formatDuration(result.elapsed)}.</p>\n${operationTable(rows, projectIds.length > 1)}\n${timeline(rows)}`,
  };
}

function projectsHtml(ids: readonly string[]): string {
  const shown = joinFirst(ids.map((id) => codeHtml(sanitizeId(id))));
  return ids.length === 1 ? `Project ${shown}` : `${ids.length} projects: ${shown}`;
}

function operationTable(rows: readonly TrackedOperationRow[], hasSeveralProjects: boolean): string {
  if (!hasSeveralProjects) return truncatedTable(operationHeadings, rows, operationCells, describeRest);
  const cells = (row: TrackedOperationRow) => [...operationCells(row), codeHtml(row.project)];
  return truncatedTable([...operationHeadings, 'Project'], rows, cells, describeRest);
}

/** In the order of the rows: those that need attention come first. */
const phaseNames: Record<Phase, string> = { failed: 'failed', pending: 'unfinished', succeeded: 'succeeded' };

function describeRest(rows: readonly OperationRow[]): string {
  const parts = Object.entries(phaseNames).flatMap(([phase, name]) => {
    const { length } = rows.filter((row) => row.phase === phase);
    return length === 0 ? [] : [`${length} ${name}`];
  });
  return `Not shown: ${parts.join(', ')}.`;
}

interface TrackedOperationRow extends OperationRow {
  readonly project: string;
}

function operationRows({ operations }: WaitResult, nowMs: number): TrackedOperationRow[] {
  const order = Object.keys(phaseNames);
  return operations
    .map(({ id, projectId, operation }) => ({
      ...(operation === undefined ? { ...unseenOperation, id: sanitizeId(id) } : operationRow(operation, nowMs)),
      project: sanitizeId(projectId),
    }))
    .sort((one, other) => order.indexOf(one.phase) - order.indexOf(other.phase));
}

const unseenOperation: Omit<OperationRow, 'id'> = {
  phase: 'pending',
  action: '',
  branch: '',
  status: 'no status yet',
  duration: '',
  failures: '',
  span: undefined,
};

/** The operation that decided the result, else the newest. */
function decidingId({ verdict, operations }: WaitResult): string | undefined {
  // Nothing is pending after `finished`.
  const decided = operations.find(verdict === 'failed' ? isFailed : isPending);
  return (decided ?? operations.reduce(newer, operations[0]))?.id;
}

function newer(one: TrackedOperation | undefined, other: TrackedOperation): TrackedOperation {
  const createdAt = (tracked: TrackedOperation) => creationTime(tracked.operation, Number.NEGATIVE_INFINITY);
  return one !== undefined && createdAt(one) >= createdAt(other) ? one : other;
}
