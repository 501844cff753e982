import type { FoundKeys } from '../../modes/list-keys.js';
import type { FoundOperations } from '../../modes/list-operations.js';
import { batchesOf } from '../../modes/list-projects.js';
import type { Found } from '../../modes/lists/listing.js';
import { printJson } from '../../text/json.js';
import { keyRowOf } from '../../words/key.js';
import { operationRowOf } from '../../words/operation.js';
import { projectRowOf, tallyOf } from '../../words/project.js';
import type { Ending } from '../ending.js';
import { code, tableOfFirst } from './markdown.js';
import { operationCells, operationHeadings } from './operation-table.js';
import { printedResult, recordsForOutput } from './records.js';

export function listedKeysReport(found: FoundKeys): Ending {
  const ids = found.records.map(({ id }) => id);
  return {
    ...common(found, 'list-keys', 'key', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'key-ids', value: printJson(ids), rank: 2 },
      { name: 'keys', value: recordsForOutput(found.records), rank: 1, holdsRecords: true },
    ],
    details: tableOfFirst(['Key', 'Name', 'Made', 'Last used'], found.records, (key) => {
      const { id, name, created, lastUsed } = keyRowOf(key);
      return [id, name, created, lastUsed].map(code);
    }),
  };
}

export function listedOperationsReport(found: FoundOperations, date: number): Ending {
  const ids = found.records.map(({ id }) => id);
  return {
    ...common(found, 'list-operations', 'operation', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'operation-id', value: ids[0] ?? '' },
      { name: 'operation-ids', value: printJson(ids), rank: 2 },
      { name: 'operations', value: recordsForOutput(found.records), rank: 1, holdsRecords: true },
    ],
    details: tableOfFirst(operationHeadings, found.records, (operation) =>
      operationCells(operationRowOf(operation, date)),
    ),
  };
}

export function listedProjectsReport(found: Found, maxBatches: number): Ending {
  // Ids are strings, even if the service sends numbers: fromJSON rounds large ones.
  const ids = found.records.map(({ id }) => id);
  const projects = tableOfFirst(['Project', 'Name', 'Region', 'Version', 'Made'], found.records, (project) => {
    const { id, name, region, version, created } = projectRowOf(project);
    return [id, name, region, version, created].map(code);
  });
  const tallies = ids.length === 0 ? '' : tallyLine(found.records, 'region') + tallyLine(found.records, 'version');
  return {
    ...common(found, 'list-projects', 'project', ids),
    outputs: [
      { name: 'count', value: String(ids.length) },
      { name: 'project-ids', value: printJson(ids), rank: 2 },
      { name: 'projects', value: recordsForOutput(found.records), rank: 1, holdsRecords: true },
      { name: 'batches', value: printJson(batchesOf(ids, maxBatches)), rank: 3 },
    ],
    details: `${tallies}${projects}`,
  };
}

function tallyLine(projects: Found['records'], by: 'region' | 'version'): string {
  const { counts, others } = tallyOf(projects, by);
  const shares = counts.map(([value, number]) => `${value === '' ? 'none' : code(value)} ${number}`);
  if (others > 0) shares.push(`others ${others}`);
  return `<p>By ${by}: ${shares.join(', ')}.</p>\n`;
}

function common({ verdict, records, cutAt }: Found, mode: string, one: string, ids: readonly string[]) {
  const number = `${records.length} ${one}${records.length === 1 ? '' : 's'}`;
  const head = { mode, status: verdict, count: records.length, [`${one}_ids`]: ids };
  return {
    status: verdict,
    succeeded: verdict === 'ok',
    headline: number,
    error: verdict === 'ok' ? undefined : whyItFails(verdict, number),
    warnings:
      cutAt === undefined ? [] : [`limit: ${cutAt} cut the list: more ${one}s match. Raise limit, or set 0 for all.`],
    result: printedResult(head, `${one}s`, records),
  };
}

const whatToDo = {
  empty: 'Look at filter, and whether api-key is of the right account.',
  match: 'The summary shows them, and result-file holds them.',
};

function whyItFails(verdict: 'empty' | 'match', number: string): string {
  return `filter admits ${number}; fail-on: ${verdict} fails the step. ${whatToDo[verdict]}`;
}
