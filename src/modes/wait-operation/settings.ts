import { parseNonEmptyList, parseProjectId } from '../../action/inputs/id-list.js';
import { type InputReader, readAge } from '../../action/inputs/input-reader.js';
import { BadValue, durationParser, oneOfParser, type Parse, parseBoolean } from '../../action/inputs/input-values.js';
import { parseOperationIds } from '../../action/inputs/operation-ids.js';
import { readOperationIds } from '../../action/inputs/response-file.js';
import { operationFields } from '../../api/records.js';
import { parseDuration } from '../../time/duration.js';
import { type Filter, readFilter } from '../list/filter.js';

/** `all`: the operations that the filter admits. `since`: what ended so many milliseconds before the step counts, too. */
export type AllOperations = { readonly all: Filter; readonly since: number };
/** The ids in each project. `whyNone`: the reason if there are none. */
export type GivenOperations = { readonly ids: ReadonlyMap<string, readonly string[]>; readonly whyNone: string };
export type Target = GivenOperations | AllOperations;
export const givenIn = (projectId: string, ids: readonly string[]): GivenOperations => ({
  ids: new Map([[projectId, ids]]),
  whyNone: 'The list of operation ids is empty',
});
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
  const isAll = reader.text('operation-id') === 'all' && reader.text('response-file') === '';
  // Later steps read this output even after a failure.
  if (isAll) reader.outputsIfInvalid.push({ name: 'idle-project-ids', value: '[]' });
  const timeout = parseDuration(reader.text('timeout')) ?? Number.POSITIVE_INFINITY;
  if (isAll && timeout > 0 && timeout < leastTimeoutForAll)
    reader.reject('timeout', 'is too short with “operation-id: all”; expected at least 30s, or 0 to poll once');
  const projectIds = reader.parse('project-id', isAll ? parseProjectIds : (text) => [parseProjectId(text)]);
  return reader.complete({
    projectIds,
    target: isAll ? readAll(reader) : readIds(reader, projectIds?.[0]),
    failOnEmpty: reader.optional('fail-on', oneOfParser(['empty'])) === 'empty',
    pollInterval: reader.parse('poll-interval', pollIntervalParser(timeout)),
    failFast: reader.parse('fail-fast', parseBoolean),
    /** True with `timeout: 0`. Then one answer to each request is enough. */
    pollsOnce: timeout === 0,
  });
}

function parseProjectIds(text: string): string[] {
  const ids = parseNonEmptyList(text, 'a project id');
  const problem = `lists ${ids.length} projects; expected at most ${maxProjects} in one step. Raise max-batches in the step that lists the projects`;
  if (ids.length > maxProjects) throw new BadValue(problem);
  return ids;
}

export const pollIntervalParser =
  (timeout = Number.POSITIVE_INFINITY): Parse<number | 'auto'> =>
  (text) => {
    if (text === 'auto') return text;
    const interval = durationParser({ minMs: 100, otherwise: 'auto, or ' })(text);
    if (timeout === 0 || interval < timeout) return interval;
    throw new BadValue('is not shorter than timeout; expected a shorter pause, or auto');
  };

function readAll(reader: InputReader): Target | null {
  const filter = readFilter(reader, waitFilterFields, changingFields);
  const since = readAge(reader, 'since');
  return filter === null || since === null ? null : { all: filter, since: since ?? defaultSince };
}

function readIds(reader: InputReader, project = ''): Target | null {
  reader.rejectBoth('operation-id', 'response-file');
  reader.rejectUnless(['filter', 'since'], 'with “operation-id: all”');
  const workspace = reader.environment['GITHUB_WORKSPACE'] ?? '';
  const ids =
    reader.text('response-file') === ''
      ? reader.parse('operation-id', parseOperationIds)
      : reader.parse('response-file', (path) => readOperationIds(path, workspace, project));
  return ids && givenIn(project, ids);
}
