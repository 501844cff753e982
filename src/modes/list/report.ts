import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { Outputs, StepReport } from '../../action/step-report.js';
import type { Key } from '../../api/keys.js';
import { type ApiRecord, displayText, displayTime, type Operation } from '../../api/records.js';
import { operationTexts } from '../../operations/description.js';
import { operationTable } from '../../operations/table.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import { keyCells, keyHeadings } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { ListResult } from './list.js';
import type { ListKeysSettings, ListOperationsSettings, ListProjectsSettings, ListSettings } from './settings.js';

export const listKeysReport: Report<ListResult<Key>, ListKeysSettings> = (result, settings, { nowMs }) => {
  const { olderThan } = settings;
  return commonReport('key', result, settings, {
    criteria: olderThan === undefined ? [] : [`older than ${formatDuration(olderThan)}`],
    table: truncatedTable(keyHeadings, result.records, (key) => keyCells(key, nowMs)),
  });
};

export const listOperationsReport: Report<ListResult<Operation>, ListOperationsSettings> = (
  result,
  settings,
  { nowMs },
) => {
  const { projectId, since } = settings;
  const project = `project ${sanitizeId(projectId)}`;
  return commonReport('operation', result, settings, {
    criteria: [project, ...(since === undefined ? [] : [`created within ${formatDuration(since)}`])],
    where: ` in ${project}`,
    outputs: { 'operation-id': result.records[0]?.id ?? '' },
    table: operationTable(result.records, (one) => operationTexts(one, nowMs)),
  });
};

export const listProjectsReport: Report<ListResult, ListProjectsSettings> = (result, settings) => {
  const ids = result.records.map(({ id }) => id);
  // The table leaves out host names, because summaries of public repositories are public.
  const fields = ['name', 'region_id', 'pg_version'];
  const table = truncatedTable(['Project', 'Name', 'Region', 'Version', 'Created'], result.records, (project) => {
    const texts = fields.map((field) => displayText(project, field, 80));
    return [sanitizeId(project.id), ...texts, displayTime(project, 'created_at')].map(codeHtml);
  });
  return commonReport('project', result, settings, {
    outputs: { batches: splitIntoBatches(ids, settings.maxBatches) },
    table,
  });
};

/** Makes as many batches as possible. Their sizes differ by at most one. */
export function splitIntoBatches(ids: readonly string[], maxBatches: number): string[][] {
  const number = Math.min(maxBatches, ids.length);
  const start = (index: number) => Math.floor((index * ids.length) / number);
  return Array.from({ length: number }, (_, index) => ids.slice(start(index), start(index + 1)));
}

/** What only this list has. */
interface Parts {
  readonly table: string;
  readonly criteria?: readonly string[];
  readonly where?: string;
  readonly outputs?: Outputs;
}

const advice = {
  ok: undefined,
  empty: 'With fail-on: empty, this fails the step. Check filter and the other inputs that limit the list.',
  match: 'With fail-on: match, this fails the step. Read all of them from the file in the output result-file.',
};

function commonReport(
  noun: 'key' | 'operation' | 'project',
  { verdict, records, read, isLimited, warnings }: ListResult,
  { filter }: ListSettings,
  { table, criteria = [], where = '', outputs }: Parts,
): StepReport {
  const headline = `${plural(records.length, noun)}${isLimited ? ' (limit reached, so the list may go on)' : ''}`;
  const texts = [...criteria, ...filter.texts].map(codeHtml);
  // Ids are strings in the outputs, because fromJSON rounds large numbers.
  const ids = records.map(({ id }) => id);
  return {
    status: verdict,
    succeeded: verdict === 'ok',
    headline,
    error: advice[verdict] && `Found ${headline}${where}${nameFirst(noun, records)}. ${advice[verdict]}`,
    warnings,
    outputs: {
      count: ids.length,
      [`${noun}-ids`]: ids,
      ...outputs,
      [`${noun}s`]: records.map(({ record }) => record),
    },
    resultFields: {},
    details: `<p>${texts.length === 0 ? '' : `${texts.join(', ')}: `}${ids.length} of ${read}.</p>\n${table}`,
  };
}

/** For example `: 5 (shop); 6 (blog)`. */
function nameFirst(noun: string, records: readonly ApiRecord[]): string {
  const named = records.map((record) => {
    const name = displayText(record, noun === 'operation' ? 'action' : 'name', 80);
    return `${sanitizeId(record.id)}${name && ` (${name})`}`;
  });
  return named.length === 0 ? '' : `: ${joinFirst(named, messageBounds)}`;
}
