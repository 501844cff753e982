import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { maxRecordsBytes } from '../../action/publish.js';
import type { Output } from '../../action/step-report.js';
import type { Key } from '../../api/keys.js';
import { type ApiRecord, displayText, displayTime, type Operation } from '../../api/records.js';
import { operationTexts } from '../../operations/description.js';
import { operationTable } from '../../operations/table.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural } from '../../text/sentences.js';
import { keyCells, keyHeadings } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { ListResult, Noun } from './list.js';
import type { ListOperationsSettings, ListProjectsSettings } from './settings.js';
import { splitIntoBatches } from './shards.js';

export const listKeysReport: Report<ListResult<Key>> = (result) => ({
  ...commonReport('key', result),
  details: truncatedTable(keyHeadings, result.records, keyCells),
});

export const listOperationsReport: Report<ListResult<Operation>, ListOperationsSettings> = (
  result,
  { projectId },
  { nowMs },
) => {
  const { records } = result;
  const newest = records[0]?.id ?? '';
  const project = sanitizeId(projectId);
  const where = ` in project ${project}`;
  return {
    ...commonReport('operation', result, where, { operation_id: newest }, { name: 'operation-id', value: newest }),
    details: `<p>Project ${codeHtml(project)}</p>\n${operationTable(records, (one) => operationTexts(one, nowMs))}`,
  };
};

export const listProjectsReport: Report<ListResult, ListProjectsSettings> = (result, { maxBatches }) => {
  const { records } = result;
  const ids = records.map(({ id }) => id);
  const batches = splitIntoBatches(ids, maxBatches);
  // The table leaves out host names, because summaries of public repositories are public.
  const table = truncatedTable(['Project', 'Name', 'Region', 'Version', 'Created'], records, (project) => {
    const texts = ['name', 'region_id', 'pg_version'].map((field) => displayText(project, field, 80));
    return [sanitizeId(project.id), ...texts, displayTime(project, 'created_at')].map(codeHtml);
  });
  return {
    ...commonReport('project', result, '', { batches }, { name: 'batches', value: JSON.stringify(batches), rank: 3 }),
    details: table,
  };
};

const advice = {
  ok: undefined,
  empty:
    'With “fail-on: empty”, this fails the step. Check the inputs that limit the list, such as filter. Also check that api-key belongs to the right account.',
  match:
    'With “fail-on: match”, this fails the step. The result file (the output result-file has its path) lists them.',
};

/** `fields`: what only this list has in its result file. `others`: the outputs that only this list has. */
function commonReport(noun: Noun, result: ListResult, where = '', fields: object = {}, ...others: Output[]) {
  const { verdict, records, isCutByDefault, warnings } = result;
  const number = `${isCutByDefault ? 'the newest ' : ''}${plural(records.length, noun)}`;
  // Ids are strings in the outputs, because fromJSON rounds large numbers.
  const ids = records.map(({ id }) => id);
  const head = { mode: `list-${noun}s`, status: verdict, count: records.length, [`${noun}_ids`]: ids, ...fields };
  return {
    status: verdict,
    succeeded: verdict === 'ok',
    headline: number,
    error: advice[verdict] && `Found ${number}${where}${nameFirst(noun, records)}. ${advice[verdict]}`,
    errorAboveTable: advice[verdict],
    warnings,
    outputs: [
      { name: 'count', value: String(ids.length) },
      ...others,
      { name: `${noun}-ids`, value: JSON.stringify(ids), rank: 2 },
      { name: `${noun}s`, value: recordsForOutput(records), rank: 1, holdsRecords: true },
    ],
    result: printResult(head, `${noun}s`, records),
  };
}

/** For example `: 5 (shop); 6 (blog)`. */
function nameFirst(noun: Noun, records: readonly ApiRecord[]): string {
  const named = records.map((record) => {
    const name = displayText(record, noun === 'operation' ? 'action' : 'name', 80);
    return `${sanitizeId(record.id)}${name && ` (${name})`}`;
  });
  return named.length === 0 ? '' : `: ${joinFirst(named, messageBounds)}`;
}

const recordsAtOnce = 1_000;

/** Prints a JSON array in pieces. Each record is in one piece, so that redaction finds every secret. */
function* printArray(records: readonly ApiRecord[]): Generator<string> {
  yield '[';
  for (let from = 0; from < records.length; from += recordsAtOnce) {
    const piece = JSON.stringify(records.slice(from, from + recordsAtOnce).map(({ record }) => record)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield ']';
}

/** Returns undefined if the array is too large for any output. */
function recordsForOutput(records: readonly ApiRecord[]): string | undefined {
  let text = '';
  for (const piece of printArray(records)) {
    text += piece;
    if (text.length >= maxRecordsBytes) return undefined;
  }
  return text;
}

function* printResult(head: object, name: string, records: readonly ApiRecord[]): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:`;
  yield* printArray(records);
  yield '}';
}
