import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { maxRecordsBytes, type StepReport } from '../../action/publish.js';
import { type ApiRecord, displayTime, fieldText } from '../../api/records.js';
import { keyRow } from '../../keys/report.js';
import { operationCells, operationHeadings, operationRow } from '../../operations/table.js';
import { type JsonObject, printJson } from '../../text/json.js';
import { sanitizeId, sanitizeLine } from '../../text/sanitize-line.js';
import { plural } from '../../text/sentences.js';
import type { ReportFacts } from '../mode.js';
import type { ListResult, ListSettings } from './collect.js';
import type { ListKeysResult } from './keys.js';
import type { ListOperationsResult } from './operations.js';
import { type ListProjectsSettings, splitIntoBatches } from './projects.js';

export function listKeysReport(found: ListKeysResult): StepReport {
  const ids = found.records.map(({ id }) => id);
  return {
    ...commonReport(found, 'list-keys', 'key', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'key-ids', value: printJson(ids), rank: 2 },
      { name: 'keys', value: recordsForOutput(found.records), rank: 1, holdsRecords: true },
    ],
    details: truncatedTable(['Key', 'Name', 'Created', 'Last used'], found.records, (key) => {
      const { id, name, created, lastUsed } = keyRow(key);
      return [id, name, created, lastUsed].map(codeHtml);
    }),
  };
}

export function listOperationsReport(
  found: ListOperationsResult,
  _settings: ListSettings,
  { nowMs }: ReportFacts,
): StepReport {
  const ids = found.records.map(({ id }) => id);
  return {
    ...commonReport(found, 'list-operations', 'operation', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'operation-id', value: ids[0] ?? '' },
      { name: 'operation-ids', value: printJson(ids), rank: 2 },
      { name: 'operations', value: recordsForOutput(found.records), rank: 1, holdsRecords: true },
    ],
    details: truncatedTable(operationHeadings, found.records, (operation) =>
      operationCells(operationRow(operation, nowMs)),
    ),
  };
}

export function listProjectsReport(result: ListResult, { maxBatches }: ListProjectsSettings): StepReport {
  // Ids are strings, even if the service sends numbers: fromJSON rounds large ones.
  const ids = result.records.map(({ id }) => id);
  const projects = truncatedTable(['Project', 'Name', 'Region', 'Version', 'Created'], result.records, (project) => {
    const { id, name, region, version, created } = projectRow(project);
    return [id, name, region, version, created].map(codeHtml);
  });
  const tallies = ids.length === 0 ? '' : tallyLine(result.records, 'region') + tallyLine(result.records, 'version');
  return {
    ...commonReport(result, 'list-projects', 'project', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'project-ids', value: printJson(ids), rank: 2 },
      { name: 'projects', value: recordsForOutput(result.records), rank: 1, holdsRecords: true },
      { name: 'batches', value: printJson(splitIntoBatches(ids, maxBatches)), rank: 3 },
    ],
    details: `${tallies}${projects}`,
  };
}

function tallyLine(projects: ListResult['records'], by: 'region' | 'version'): string {
  const { counts, others } = tally(projects, by);
  const shares = counts.map(([value, number]) => `${value === '' ? 'none' : codeHtml(value)} ${number}`);
  if (others > 0) shares.push(`others ${others}`);
  return `<p>By ${by}: ${shares.join(', ')}.</p>\n`;
}

function commonReport({ verdict, records, cutAt }: ListResult, mode: string, one: string, ids: readonly string[]) {
  const number = plural(records.length, one);
  const head = { mode, status: verdict, count: records.length, [`${one}_ids`]: ids };
  return {
    status: verdict,
    succeeded: verdict === 'ok',
    headline: number,
    error: verdict === 'ok' ? undefined : failOnMessage(verdict, number),
    warnings:
      cutAt === undefined
        ? []
        : [`limit: ${cutAt} cut the list, but more ${one}s match. Raise limit, or set it to 0 for all.`],
    result: printResult(head, `${one}s`, records),
  };
}

const whatToDo = {
  empty: 'Check filter, and that api-key belongs to the right account.',
  match: 'See the summary or result-file.',
};

function failOnMessage(verdict: 'empty' | 'match', number: string): string {
  return `Found ${number}, so fail-on: ${verdict} fails the step. ${whatToDo[verdict]}`;
}

/** Records per piece. Pieces avoid a second copy of a large list in memory. */
const recordsAtOnce = 1_000;

interface WithRecord {
  readonly record: JsonObject;
}

/** A JSON array, in pieces. Each record is whole in one piece, so that redaction can find a secret in it. */
export function* printArray(records: readonly WithRecord[]): Generator<string> {
  yield '[';
  for (let from = 0; from < records.length; from += recordsAtOnce) {
    const piece = printJson(records.slice(from, from + recordsAtOnce).map(({ record }) => record)).slice(1, -1);
    yield from === 0 ? piece : `,${piece}`;
  }
  yield ']';
}

/** A JSON array for an output, or `undefined` if it is too large for any output. */
export function recordsForOutput(records: readonly WithRecord[]): string | undefined {
  let text = '';
  for (const piece of printArray(records)) {
    text += piece;
    if (text.length >= maxRecordsBytes) return undefined;
  }
  return text;
}

/** The whole result as JSON: the fields of `head`, then the records under `name`. */
export function* printResult(
  head: Readonly<Record<string, unknown>>,
  name: string,
  records: readonly WithRecord[],
): Generator<string> {
  yield `${printJson(head).slice(0, -1)},${JSON.stringify(name)}:`;
  yield* printArray(records);
  yield '}';
}

/**
 * A project in the summary. Texts are sanitized, and host names left out, because summaries of public repositories are
 * public.
 */
interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly version: string;
  readonly created: string;
}

function projectRow(project: ApiRecord): ProjectRow {
  return {
    id: sanitizeId(project.id),
    name: sanitizeLine(fieldText(project, 'name') ?? '', 80),
    region: sanitizeLine(fieldText(project, 'region_id') ?? '', 60),
    version: sanitizeLine(fieldText(project, 'pg_version') ?? '', 20),
    created: displayTime(project, 'created_at'),
  };
}

const maxValues = 10;

/** The most frequent values come first. */
function tally(
  projects: readonly ApiRecord[],
  by: 'region' | 'version',
): { readonly counts: readonly (readonly [string, number])[]; readonly others: number } {
  const counts = new Map<string, number>();
  for (const project of projects) {
    const value = fieldText(project, by === 'region' ? 'region_id' : 'pg_version') ?? '';
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const rest = sorted.slice(maxValues).reduce((sum, [, number]) => sum + number, 0);
  const shown = sorted.slice(0, maxValues).map(([value, number]) => [sanitizeLine(value, 40), number] as const);
  return { counts: shown, others: rest };
}
