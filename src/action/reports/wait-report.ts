import type { Waited, WaitSettings } from '../../modes/wait-operation.js';
import { firstOf } from '../../text/first-of.js';
import { printJson } from '../../text/json.js';
import { plain } from '../../text/plain.js';
import { formatDuration } from '../../time/duration.js';
import type { OperationRow } from '../../words/operation.js';
import { inWords } from '../../words/wait.js';
import { decidingId, idsOf, recordsOf, rowsOf, type WatchedRow } from '../../words/wait-view.js';
import type { Ending } from '../ending.js';
import { code, tableOfFirst } from './markdown.js';
import { operationCells, operationHeadings } from './operation-table.js';
import { timeline } from './timeline.js';

export function waitReport(waited: Waited, settings: WaitSettings, timeout: number, date: number): Ending {
  const words = inWords(waited, {
    projectIds: settings.projectIds,
    wasGivenIds: 'ids' in settings.target,
    timeout,
    date,
  });
  const ids = idsOf(waited);
  const records = recordsOf(waited);
  const rows = rowsOf(waited, date);
  return {
    ...words,
    status: waited.verdict,
    succeeded: waited.verdict === 'finished',
    outputs: [
      { name: 'count', value: String(records.length) },
      { name: 'operation-id', value: decidingId(waited) ?? '' },
      { name: 'operation-ids', value: JSON.stringify(ids), rank: 2 },
      { name: 'operations', value: printJson(records), rank: 1, holdsRecords: true },
    ],
    result: [
      printJson({
        mode: 'wait-operation',
        status: waited.verdict,
        project_ids: settings.projectIds,
        operation_ids: ids,
        operations: records,
      }),
    ],
    details: `<p>${projectsInCode(settings.projectIds)}, waited ${formatDuration(waited.took)}.</p>\n${tableOf(rows, settings.projectIds.length > 1)}\n${timeline(rows)}`,
  };
}

function projectsInCode(ids: readonly string[]): string {
  const shown = firstOf(ids.map((id) => code(plain(id, 80))));
  return ids.length === 1 ? `Project ${shown}` : `${ids.length} projects: ${shown}`;
}

function tableOf(rows: readonly WatchedRow[], hasSeveralProjects: boolean): string {
  if (!hasSeveralProjects) return tableOfFirst(operationHeadings, rows, operationCells, tally);
  const cells = (row: WatchedRow) => [...operationCells(row), code(row.project)];
  return tableOfFirst([...operationHeadings, 'Project'], rows, cells, tally);
}

function tally(rows: readonly OperationRow[]): string {
  const named = { failed: 'failed', pending: 'not ended', succeeded: 'ended well' };
  const parts = Object.entries(named)
    .map(([phase, name]) => [rows.filter((row) => row.phase === phase).length, name] as const)
    .filter(([number]) => number > 0)
    .map(([number, name]) => `${number} ${name}`);
  return `And more: ${parts.join(', ')}.`;
}
