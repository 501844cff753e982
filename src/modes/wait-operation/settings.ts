import { parseNonEmptyList, parseProjectId } from '../../action/inputs/id-list.js';
import { type InputReader, readAge } from '../../action/inputs/input-reader.js';
import { BadValue, durationParser, oneOfParser, parseBoolean } from '../../action/inputs/input-values.js';
import { operationFields } from '../../api/records.js';
import { parseDuration } from '../../time/duration.js';
import { type Filter, readFilter } from '../list/filter.js';
import { parseOperationIds } from './operation-ids.js';
import { readOperationIds } from './response-file.js';

/** What to wait for: the operations with the given ids, or all unfinished operations that a filter admits. */
export type Target = { readonly ids: readonly string[] } | AllOperations;

export interface AllOperations {
  readonly all: Filter;
  /** Operations created up to this long before the wait are included even if they have ended. In milliseconds. */
  readonly since?: number | undefined;
}

export type WaitSettings = ReturnType<typeof readWaitSettings>;

const reason = 'it changes during the wait';
export const changingFields = { status: reason, failures_count: reason, updated_at: reason };

/** The fields that `filter` may name in a wait for `all`. */
export const waitFilterFields: readonly string[] = operationFields.filter((name) => !(name in changingFields));

export function readWaitSettings(reader: InputReader) {
  const isAll = reader.text('operation-id') === 'all' && reader.text('response-file') === '';
  // Later steps read this output even after a failure.
  if (isAll) reader.outputsIfInvalid.push({ name: 'idle-project-ids', value: '[]' });
  const timeout = parseDuration(reader.text('timeout')) ?? Number.POSITIVE_INFINITY;
  const pollsOnce = timeout === 0;
  if (pollsOnce) reader.ignore(['poll-interval', 'fail-fast'], 'with a timeout above 0');
  const projectIds = reader.parse('project-id', isAll ? parseProjectIds : (text) => [parseProjectId(text)]);
  return reader.complete({
    /** Exactly one project if `target` names operations by their ids. */
    projectIds,
    target: readTarget(reader, projectIds?.[0]),
    failOnEmpty: reader.optional('fail-on', oneOfParser(['empty'])) === 'empty',
    pollInterval: readPollInterval(reader, timeout),
    failFast: reader.parse('fail-fast', parseBoolean),
    /** True with `timeout: 0`. Then the wait sends each request once, and trusts the first read of a list. */
    pollsOnce,
  });
}

const maxProjects = 100;

function parseProjectIds(text: string): string[] {
  const ids = parseNonEmptyList(text, 'a project id');
  const problem = `lists ${ids.length} projects; expected at most ${maxProjects} in one step. Raise max-batches in the step that lists the projects`;
  if (ids.length > maxProjects) throw new BadValue(problem);
  return ids;
}

function readPollInterval(reader: InputReader, timeout: number) {
  const interval = reader.parse('poll-interval', (text) => (text === 'auto' ? ('auto' as const) : parsePause(text)));
  if (typeof interval === 'number' && timeout > 0 && interval >= timeout)
    reader.warn('poll-interval', 'not shorter than timeout, so the step polls only at its start and at its end');
  return interval;
}

const parsePause = durationParser({ minMs: 100, otherwise: 'auto, or ' });

function readTarget(reader: InputReader, project: string | undefined): Target | null {
  reader.rejectBoth('operation-id', 'response-file');
  const workspace = reader.environment['GITHUB_WORKSPACE'] ?? '';
  const ids =
    reader.text('response-file') === ''
      ? reader.parse('operation-id', parseOperationIds)
      : reader.parse('response-file', (path) => readOperationIds(path, workspace, project));
  // These are parsed even if they have no effect, because one error must name all invalid inputs.
  const filter = readFilter(reader, waitFilterFields, changingFields);
  const since = readAge(reader, 'since');
  if (ids === 'all') return filter === null || since === null ? null : { all: filter, since };
  reader.ignore(['filter', 'since'], 'with operation-id: all');
  return ids && { ids };
}
