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
import type { WaitResult } from './conclude.js';
import { waitMessages, waitWarnings } from './messages.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';

export function waitReport(
  result: WaitResult,
  settings: WaitSettings,
  facts: ReportFacts,
  mode = 'wait-operation',
): StepReport {
  const { verdict, operations, elapsed } = result;
  const { projectIds } = settings;
  const table = operationTable(operationRows(result, settings, facts), (row) => row);
  const ids = operations.map(({ id }) => id);
  const records = operations.flatMap(({ operation }) => operation?.record ?? []);
  const deciding = decidingId(result) ?? '';
  const idle = 'all' in settings.target ? result.idleProjects : undefined;
  const shown = joinFirst(projectIds.map((id) => codeHtml(sanitizeId(id))));
  const where = projectIds.length === 1 ? `Project ${shown}` : `${projectIds.length} projects: ${shown}`;
  return {
    ...waitMessages(result, { ...settings, ...facts }),
    warnings: waitWarnings(result, facts),
    status: verdict,
    succeeded: verdict === 'finished',
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'operation-id', value: deciding },
      { name: 'operation-ids', value: JSON.stringify(ids), rank: 2 },
      { name: 'operations', value: printJson(records), rank: 1, holdsRecords: true },
      ...(idle === undefined ? [] : [{ name: 'idle-project-ids', value: JSON.stringify(idle), rank: 2 }]),
    ],
    result: [
      printJson({
        mode,
        status: verdict,
        count: ids.length,
        project_ids: projectIds,
        operation_id: deciding,
        operation_ids: ids,
        operations: records,
        idle_project_ids: idle,
      }),
    ],
    details: `<p>${where}, waited ${formatDuration(elapsed)}.</p>\n${table}`,
  };
}

/** Operations that need attention come first. */
const order: Record<Phase, number> = { failed: 0, pending: 1, succeeded: 2 };

function operationRows({ operations }: WaitResult, { projectIds }: WaitSettings, { nowMs }: ReportFacts) {
  const rows = operations.map(({ id, projectId, operation }): OperationRow => {
    const texts = operationTexts(operation ?? { id, status: 'no status yet', record: { action: '' } }, nowMs);
    return { ...texts, project: projectIds.length > 1 ? sanitizeId(projectId) : undefined };
  });
  return rows.sort((one, other) => order[one.phase] - order[other.phase]);
}

/** The operation that decided how the wait ended, else the newest that counts. */
function decidingId({ verdict, operations, failedId }: WaitResult): string | undefined {
  if (verdict === 'error' && failedId !== undefined) return failedId;
  const decided = operations.find(verdict === 'failed' ? isFailed : isPending);
  const createdAt = ({ operation }: TrackedOperation) => (operation && fieldTime(operation, 'created_at')) ?? 0;
  return (decided ?? operations.toSorted((one, other) => createdAt(other) - createdAt(one))[0])?.id;
}
