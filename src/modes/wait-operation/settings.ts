import type { InputReader } from '../../action/inputs/input-reader.js';
import {
  BadValue,
  durationParser,
  oneOfParser,
  parseAge,
  parseBoolean,
  parseIdList,
  pathIdsParser,
  readInputFile,
} from '../../action/inputs/input-values.js';
import { hasError } from '../../api/parse-response.js';
import { type Operation, operationFields, operationsNamedIn } from '../../api/records.js';
import { isAbsent, isObject, type Json, parseJsonOrUndefined, toText } from '../../text/json.js';
import { parseDuration } from '../../time/duration.js';
import { type Filter, parseFilter } from '../list/filter.js';

/** `all`: the operations that the filter admits. `since`: in milliseconds. What ended at most this long before the step counts. */
export type AllOperations = { readonly all: Filter; readonly since: number };
/** `ids`: by project. An operation that an earlier answer has shown replaces its id. */
export type Target = AllOperations | { readonly ids: ReadonlyMap<string, readonly (string | Operation)[]> };
export type WaitSettings = ReturnType<typeof readWaitSettings>;

const defaultSince = 60_000;
/** A project is idle only after two reads, so a shorter wait for `all` could not succeed. */
const leastTimeoutForAll = 30_000;
const maxProjects = 100;

export const changingFields = ['status', 'failures_count', 'updated_at'];

const otherWay = 'To wait for all operations of the project instead, set operation-id: all';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function readWaitSettings(reader: InputReader) {
  const isAll = reader.text('response-file') === '' && reader.text('operation-id') === 'all';
  const timeout = timeoutOf(reader);
  if (isAll && timeout > 0 && timeout < leastTimeoutForAll)
    reader.reject('timeout', 'is too short with “operation-id: all”; expected at least 30s, or 0 to poll once');
  const projectIds = reader.parse('project-id', pathIdsParser('a project id', isAll ? maxProjects : 1));
  const target = isAll ? readAll(reader) : readIds(reader, projectIds?.[0]);
  return reader.complete({ projectIds, target, ...readWaitInputs(reader) });
}

/** The inputs of every mode that waits. */
export function readWaitInputs(reader: InputReader) {
  const timeout = timeoutOf(reader);
  const parseInterval = durationParser({ minMs: 100, what: 'auto or a duration' });
  const pollInterval = reader.parse<number | 'auto'>('poll-interval', (text) =>
    text === 'auto' ? text : parseInterval(text),
  );
  if (Number(pollInterval) >= timeout)
    reader.reject('poll-interval', 'is not shorter than timeout; expected a shorter pause, or auto');
  return {
    failOnEmpty: reader.optional('fail-on', oneOfParser(['empty'])) === 'empty',
    pollInterval,
    failFast: reader.parse('fail-fast', parseBoolean),
    /** The wait ends when each of its requests has an answer. */
    pollsOnce: timeout === 0,
  };
}

const timeoutOf = (reader: InputReader) => parseDuration(reader.text('timeout')) ?? Number.POSITIVE_INFINITY;

function readAll(reader: InputReader): Target | null {
  const filter = reader.parse('filter', (text) => parseFilter(text, operationFields, changingFields));
  const since = reader.optional('since', parseAge);
  return filter === null || since === null ? null : { all: filter, since: since ?? defaultSince };
}

function readIds(reader: InputReader, project = ''): Target | null {
  const workspace = reader.environment['GITHUB_WORKSPACE'] ?? '';
  const expected = 'operation ids, or the word “all” (every operation of the project), unless response-file is set';
  const ids =
    reader.text('response-file') === ''
      ? reader.parse('operation-id', (text) => parseIdList(text, parseOperationId, expected))
      : reader.parse('response-file', (path) => idsInResponse(readInputFile(path, workspace), project));
  return ids && { ids: new Map([[project, ids]]) };
}

function parseOperationId(word: string): string {
  if (!uuid.test(word)) throw new BadValue('is not an operation id; expected a UUID, or the word “all” alone');
  return word.toLowerCase();
}

/** Returns the ids of the operations in an API response, or in an array of operations. */
function idsInResponse(text: string, project: string): string[] {
  const body = parseJsonOrUndefined(text);
  if (body === undefined)
    throw new BadValue('is empty or not JSON; expected only the body of an API response (curl -o, without -i)');
  const fields = isObject(body) ? body : { operations: body };
  const named = operationsNamedIn(fields);
  if (named === undefined || (isAbsent(fields['operations']) && isAbsent(fields['operation'])))
    throw new BadValue(
      `contains no operations; expected an API response with operations or operation. If the request failed, the file holds the error message; with --fail-with-body, curl fails its own step. ${otherWay}`,
    );
  if (named.length === 0 && hasError(body))
    throw new BadValue('contains an error and no operations, so the request has failed. Check the request');
  return [...new Set(named.map(({ place, record }) => idIn(record, place, project)))];
}

/** No error quotes the record. */
function idIn(record: Json, place: string, project: string): string {
  const { id, project_id } = isObject(record) ? record : {};
  if (typeof id !== 'string' || !uuid.test(id)) throw new BadValue(`has no UUID in ${place}.id`);
  if (!isAbsent(project_id) && toText(project_id) !== project)
    throw new BadValue(`contains an operation of another project (${place}.project_id). ${otherWay}`);
  return id.toLowerCase();
}
