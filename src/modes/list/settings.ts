import { parseOnlyId, parseProjectId } from '../../action/inputs/id-list.js';
import { type InputReader, readAge, type Valid } from '../../action/inputs/input-reader.js';
import { BadValue, oneOfParser, type Parse } from '../../action/inputs/input-values.js';
import { keyFields } from '../../api/keys.js';
import { operationFields, projectFields } from '../../api/records.js';
import { readFilter } from './filter.js';

export type ListSettings = Valid<ReturnType<typeof readCommonInputs>>;
export type ListKeysSettings = ReturnType<typeof readListKeysSettings>;
export type ListOperationsSettings = ReturnType<typeof readListOperationsSettings>;
export type ListProjectsSettings = ReturnType<typeof readListProjectsSettings>;

export function readListKeysSettings(reader: InputReader) {
  return reader.complete({ ...readCommonInputs(reader, keyFields), olderThan: readAge(reader, 'older-than') });
}

export function readListProjectsSettings(reader: InputReader) {
  return reader.complete({
    ...readCommonInputs(reader, projectFields),
    maxBatches: reader.parse('max-batches', parseMaxBatches),
    shard: reader.optional('shard', parseShard),
    orgId: reader.optional('org-id', (text) => parseOnlyId(text, 'an organization id')),
  });
}

export function readListOperationsSettings(reader: InputReader) {
  return reader.complete({
    projectId: reader.parse('project-id', parseProjectId),
    // With `since`, the age ends the list, so no default limit is needed.
    ...readCommonInputs(reader, operationFields, reader.text('since') === '' ? '100' : '0'),
    since: readAge(reader, 'since'),
  });
}

function readCommonInputs(reader: InputReader, fields: readonly string[], defaultLimit = '0') {
  const limitText = reader.text('limit');
  return {
    filter: readFilter(reader, fields),
    limit: reader.parse('limit', parseLimit, limitText || defaultLimit),
    // If only the default limit cuts a list, there is no warning.
    isLimitSet: limitText !== '',
    failOn: reader.optional('fail-on', oneOfParser(['empty', 'match'] as const)),
  };
}

const parseLimit: Parse<number> = (text) => {
  if (!/^\d{1,9}$/.test(text))
    throw new BadValue(
      'is not a valid record count; expected a whole number of at most 9 digits, or 0 for all records',
    );
  return Number(text) || Number.POSITIVE_INFINITY;
};

/** GitHub limits a matrix to 256 jobs per workflow run. */
const parseMaxBatches: Parse<number> = (text) => {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 256) throw new BadValue('is not a valid number of batches; expected 1 to 256');
  return number;
};

function parseShard(text: string) {
  const [, number = 0, total = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (number < 1 || number > total)
    throw new BadValue(
      'is not a valid shard; expected number/total, such as 3/256. The number is from 1 to the total, the total at most 999999',
    );
  return { number, total };
}
