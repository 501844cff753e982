import { codeHtml } from '../../action/markdown.js';
import type { StepReport } from '../../action/step-report.js';
import { fieldTime } from '../../api/records.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import type { ReportFacts } from '../mode.js';
import { operationTable, operationTexts, type Phase } from '../operations.js';
import type { WaitResult } from './conclude.js';
import { waitMessages, waitWarnings } from './messages.js';
import type { WaitSettings } from './settings.js';
import { isFailed, isPending, type TrackedOperation } from './tracked-operations.js';

export function waitReport(result: WaitResult, settings: WaitSettings, facts: ReportFacts): StepReport {
  const { verdict, operations, elapsed } = result;
  const { projectIds, target } = settings;
  const table = operationTable(operationRows(result, settings, facts));
  const ids = operations.map(({ id }) => id);
  const records = operations.flatMap(({ operation }) => operation?.record ?? []);
  const shown = joinFirst(projectIds.map((id) => codeHtml(sanitizeId(id))));
  const criteria = 'all' in target ? [`since ${formatDuration(target.since)}`, ...target.all.texts].map(codeHtml) : [];
  const where = projectIds.length === 0 ? [] : [`${projectIds.length === 1 ? 'Project' : 'Projects'} ${shown}`];
  return {
    ...waitMessages(result, { ...settings, ...facts }),
    warnings: waitWarnings(result, facts),
    status: verdict,
    succeeded: verdict === 'finished',
    outputs: {
      count: ids.length,
      'operation-id': decidingId(result) ?? '',
      'operation-ids': ids,
      operations: records,
      ...('all' in target && { 'idle-project-ids': result.idleProjects }),
    },
    resultFields: { project_ids: projectIds },
    details: `<p>${[...where, ...criteria, `waited ${formatDuration(elapsed)}`].join(', ')}.</p>\n${table}`,
  };
}

/** Operations that need attention come first. */
const order: Record<Phase, number> = { failed: 0, pending: 1, succeeded: 2 };

function operationRows({ operations }: WaitResult, { projectIds }: WaitSettings, { nowMs }: ReportFacts) {
  const rows = operations.map(({ id, projectId, operation }) => {
    const texts = operationTexts(operation ?? { id, status: 'no status yet', record: { action: '' } }, nowMs);
    return { ...texts, project: projectIds.length > 1 ? sanitizeId(projectId) : '' };
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
