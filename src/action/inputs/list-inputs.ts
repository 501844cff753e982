import { fieldsToListKeysBy } from '../../modes/list-keys.js';
import { fieldsToListOperationsBy, type ListOperationsSettings } from '../../modes/list-operations.js';
import { fieldsToListProjectsBy, type ListProjectsSettings, type Shard } from '../../modes/list-projects.js';
import type { Wanted } from '../../modes/lists/listing.js';
import { filterOf } from './filter-input.js';
import type { InputReader } from './input-reader.js';
import { BadValue, count, duration, oneOf, type Parse } from './input-values.js';
import { projectId } from './project-ids.js';

const newestOperations = '100';
const all = '0';

export function listKeysSettings(reader: InputReader): Wanted | undefined {
  return wantedOf(reader, fieldsToListKeysBy, all);
}

export function listProjectsSettings(reader: InputReader): ListProjectsSettings | undefined {
  const wanted = wantedOf(reader, fieldsToListProjectsBy, all);
  const maxBatches = reader.parse('max-batches', numberOfBatches);
  const shard = reader.optional('shard', shardOf);
  if (wanted === undefined || maxBatches === undefined || shard === undefined) return undefined;
  return { ...wanted, maxBatches, shard: shard.value };
}

export function listOperationsSettings(reader: InputReader): ListOperationsSettings | undefined {
  const project = reader.parse('project-id', projectId);
  const wanted = wantedOf(reader, fieldsToListOperationsBy, newestOperations);
  const since = reader.optional('since', duration({ mostDays: 366 }));
  if (project === undefined || wanted === undefined || since === undefined) return undefined;
  return { ...wanted, projectId: project, since: since.value };
}

function wantedOf(reader: InputReader, fields: readonly string[], most: string): Wanted | undefined {
  const filter = reader.parse('filter', filterOf(fields));
  const limitText = reader.text('limit');
  const limit = reader.parse('limit', count, limitText || most);
  const failOn = reader.optional('fail-on', oneOf(['empty', 'match'] as const));
  if (filter === undefined || limit === undefined || failOn === undefined) return undefined;
  for (const warning of filter.warnings) reader.warn('filter', warning);
  return { filter, limit, isLimitSet: limitText !== '', failOn: failOn.value };
}

/** GitHub limits a matrix to 256 jobs per workflow run. */
const numberOfBatches: Parse<number> = (text) => {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 256) throw new BadValue('is not a number of batches; expected 1 to 256');
  return number;
};

const shardOf: Parse<Shard> = (text) => {
  const [, number = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (number < 1 || number > of)
    throw new BadValue('is no share; expected its number and how many there are, such as 3/256, from 1/256 to 256/256');
  return { number, of };
};
