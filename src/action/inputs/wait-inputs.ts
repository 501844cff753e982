import { resolve } from 'node:path';
import { fieldsToWaitBy, fieldsUnderWay } from '../../modes/wait/fields.js';
import type { Target } from '../../modes/wait/target.js';
import type { WaitSettings } from '../../modes/wait-operation.js';
import { parseDuration } from '../../time/duration.js';
import { filterOf } from './filter-input.js';
import type { InputReader } from './input-reader.js';
import { BadValue, boolean, duration, oneOf } from './input-values.js';
import { operationIds } from './operation-ids.js';
import { projectId, projectIds } from './project-ids.js';
import { operationIdsIn } from './response-file.js';

export function waitSettings(reader: InputReader): WaitSettings | undefined {
  const isAll = reader.text('operation-id') === 'all' && reader.text('response-file') === '';
  const projects = reader.parse('project-id', isAll ? projectIds : (text) => [projectId(text)]);
  const target = targetOf(reader, projects?.[0]);
  const failOn = reader.optional('fail-on', oneOf(['empty']));
  const interval = reader.parse('poll-interval', pollInterval);
  const failFast = reader.parse('fail-fast', boolean);
  if (projects === undefined || target === undefined || failOn === undefined) return undefined;
  if (interval === undefined || failFast === undefined) return undefined;
  const failOnEmpty = failOn.value === 'empty';
  return { projectIds: projects, target, failOnEmpty, pollInterval: interval, failFast };
}

function pollInterval(text: string): number | 'auto' {
  if (text === 'auto') return text;
  if (parseDuration(text) === undefined)
    throw new BadValue(
      'is neither the word auto nor a duration; expected whole numbers with units, such as 500ms, 5s or 1m',
    );
  return duration()(text);
}

function targetOf(reader: InputReader, project: string | undefined): Target | undefined {
  const file = reader.text('response-file');
  const given = reader.text('operation-id');
  if (file !== '' && given !== '') {
    reader.problem('operation-id', 'is set, and so is response-file; expected one of them');
    return undefined;
  }
  if (file !== '') {
    const workspace = reader.environment['GITHUB_WORKSPACE'] ?? '';
    const ids = reader.parse('response-file', (path) => operationIdsIn(resolve(workspace, path), project), file);
    return ids === undefined ? undefined : { ids };
  }
  const ids = reader.parse('operation-id', operationIds, given);
  if (ids !== undefined && ids !== 'all') return { ids };
  // These are parsed even if operation-id is invalid, so that one error names all problems.
  const filter = reader.parse('filter', filterOf(fieldsToWaitBy, fieldsUnderWay));
  const since = reader.optional('since', duration({ mostDays: 366 }));
  if (ids === undefined || filter === undefined || since === undefined) return undefined;
  return { all: filter, since: since.value };
}
