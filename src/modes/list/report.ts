import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { Outputs } from '../../action/step-report.js';
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
  const age = olderThan === undefined ? [] : [`older than ${formatDuration(olderThan)}`];
  const table = truncatedTable(keyHeadings, result.records, (key) => keyCells(key, nowMs));
  return commonReport({ noun: 'key', result, settings, criteria: age, table });
};

export const listOperationsReport: Report<ListResult<Operation>, ListOperationsSettings> = (
  result,
  settings,
  { nowMs },
) => {
  const { since } = settings;
  const { records } = result;
  const newest = records[0]?.id ?? '';
  const project = `project ${sanitizeId(settings.projectId)}`;
  const age = since === undefined ? [] : [`created within ${formatDuration(since)}`];
  return commonReport({
    noun: 'operation',
    result,
    settings,
    criteria: [project, ...age],
    where: ` in ${project}`,
    outputs: { 'operation-id': newest },
    table: operationTable(records, (one) => ({ ...operationTexts(one, nowMs), showsAge: true })),
  });
};

export const listProjectsReport: Report<ListResult, ListProjectsSettings> = (result, settings) => {
  const { records } = result;
  const batches = splitIntoBatches(
    records.map(({ id }) => id),
    settings.maxBatches,
  );
  // The table leaves out host names, because summaries of public repositories are public.
  const table = truncatedTable(['Project', 'Name', 'Region', 'Version', 'Created'], records, (project) => {
    const texts = ['name', 'region_id', 'pg_version'].map((field) => displayText(project, field, 80));
    return [sanitizeId(project.id), ...texts, displayTime(project, 'created_at')].map(codeHtml);
  });
  return commonReport({ noun: 'project', result, settings, outputs: { batches }, table });
};

/** Makes as many batches as possible. Their sizes differ by at most one. */
export function splitIntoBatches(ids: readonly string[], maxBatches: number): string[][] {
  const number = Math.min(maxBatches, ids.length);
  const start = (index: number) => Math.floor((index * ids.length) / number);
  return Array.from({ length: number }, (_, index) => ids.slice(start(index), start(index + 1)));
}

interface Parts {
  readonly noun: 'key' | 'operation' | 'project';
  readonly result: ListResult;
  readonly settings: ListSettings;
  readonly table: string;
  readonly criteria?: readonly string[];
  readonly where?: string;
  /** What only this list has. */
  readonly outputs?: Outputs;
}

const advice = {
  ok: undefined,
  empty: 'With fail-on: empty, this fails the step. Check filter and the other inputs that limit the list.',
  match: 'With fail-on: match, this fails the step. Read all of them from the file in the output result-file.',
};

function commonReport({ noun, result, settings, table, criteria = [], where = '', outputs }: Parts) {
  const { verdict, records, read, isLimited, warnings } = result;
  const limited = isLimited ? ` (limit reached, so the list may go on)` : '';
  const headline = `${plural(records.length, noun)}${limited}`;
  const texts = [...criteria, ...settings.filter.texts].map(codeHtml);
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
