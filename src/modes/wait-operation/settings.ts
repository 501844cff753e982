import { parseIdList, pathIdsParser } from '../../action/inputs/id-list.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import {
  BadValue,
  durationParser,
  oneOfParser,
  type Parse,
  parseAge,
  parseBoolean,
} from '../../action/inputs/input-values.js';
import { type Operation, operationFields } from '../../api/records.js';
import { parseDuration } from '../../time/duration.js';
import { type Filter, parseFilter } from '../list/filter.js';
import { readOperationIds, uuid } from './response-file.js';

/** `all`: the operations that the filter admits. `since`: what ended so many milliseconds before the step counts, too. */
export type AllOperations = { readonly all: Filter; readonly since: number };
/** The given ids in each project. */
interface GivenOperations {
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** What an earlier answer has shown of them. */
  readonly seen?: ReadonlyMap<string, readonly Operation[]>;
}
export type Target = GivenOperations | AllOperations;
export type WaitSettings = ReturnType<typeof readWaitSettings>;

const defaultSince = 60_000;
/** A project is idle only after two reads, so a shorter wait for `all` could not succeed. */
const leastTimeoutForAll = 30_000;
const maxProjects = 100;

const reason = 'it changes during the wait';
export const changingFields = { status: reason, failures_count: reason, updated_at: reason };
/** The fields that `filter` may name in a wait. */
export const waitFilterFields: readonly string[] = operationFields.filter((name) => !(name in changingFields));

export function readWaitSettings(reader: InputReader) {
  const isAll = reader.text('response-file') === '' && reader.text('operation-id') === 'all';
  // Later steps read this output even after a failure.
  if (isAll) reader.outputsIfInvalid = { 'idle-project-ids': [] };
  const timeout = timeoutOf(reader);
  if (isAll && timeout > 0 && timeout < leastTimeoutForAll)
    reader.reject('timeout', 'is too short with “operation-id: all”; expected at least 30s, or 0 to poll once');
  const projectIds = reader.parse('project-id', pathIdsParser('a project id', isAll ? maxProjects : 1));
  return reader.complete({
    projectIds,
    target: isAll ? readAll(reader) : readIds(reader, projectIds?.[0]),
    ...readWaitInputs(reader),
    /** True with `timeout: 0`. Then one answer to each request is enough. */
    pollsOnce: timeout === 0,
  });
}

/** The inputs of every mode that waits. */
export function readWaitInputs(reader: InputReader) {
  const timeout = timeoutOf(reader);
  const parsePollInterval: Parse<number | 'auto'> = (text) => {
    if (text === 'auto') return text;
    const interval = durationParser({ minMs: 100, other: 'auto or ' })(text);
    if (interval < timeout) return interval;
    throw new BadValue('is not shorter than timeout; expected a shorter pause, or auto');
  };
  return {
    failOnEmpty: reader.optional('fail-on', oneOfParser(['empty'])) === 'empty',
    pollInterval: reader.parse('poll-interval', parsePollInterval),
    failFast: reader.parse('fail-fast', parseBoolean),
  };
}

const timeoutOf = (reader: InputReader) => parseDuration(reader.text('timeout')) ?? Number.POSITIVE_INFINITY;

function readAll(reader: InputReader): Target | null {
  const filter = reader.parse('filter', (text) => parseFilter(text, waitFilterFields, changingFields));
  const since = reader.optional('since', parseAge);
  return filter === null || since === null ? null : { all: filter, since: since ?? defaultSince };
}

function readIds(reader: InputReader, project = ''): Target | null {
  const workspace = reader.environment['GITHUB_WORKSPACE'] ?? '';
  const ids =
    reader.text('response-file') === ''
      ? reader.parse('operation-id', parseOperationIds)
      : reader.parse('response-file', (path) => readOperationIds(path, workspace, project));
  return ids && { ids: new Map([[project, ids]]) };
}

export function parseOperationIds(text: string): string[] {
  const expected = 'operation ids, or the word “all” for every operation of the project, or response-file';
  return parseIdList(text, parseOperationId, expected);
}

const parseOperationId: Parse<string> = (word) => {
  if (!uuid.test(word)) throw new BadValue('is not an operation id; expected a UUID, or the word “all” alone');
  return word.toLowerCase();
};
