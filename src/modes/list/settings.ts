import { onlyPathIdParser } from '../../action/inputs/id-list.js';
import type { InputReader, Valid } from '../../action/inputs/input-reader.js';
import { BadValue, oneOfParser, type Parse, parseAge } from '../../action/inputs/input-values.js';
import { keyFields } from '../../api/keys.js';
import { operationFields, projectFields } from '../../api/records.js';
import { parseFilter } from './filter.js';

export type ListSettings = Valid<ReturnType<typeof readCommonInputs>>;
export type ListKeysSettings = ReturnType<typeof readListKeysSettings>;
export type ListOperationsSettings = ReturnType<typeof readListOperationsSettings>;
export type ListProjectsSettings = ReturnType<typeof readListProjectsSettings>;

export function readListKeysSettings(reader: InputReader) {
  return reader.complete({
    ...readCommonInputs(reader, keyFields),
    olderThan: reader.optional('older-than', parseAge),
  });
}

export function readListProjectsSettings(reader: InputReader) {
  return reader.complete({
    ...readCommonInputs(reader, projectFields),
    maxBatches: reader.parse('max-batches', parseMaxBatches),
    orgId: reader.optional('org-id', onlyPathIdParser('an organization id')),
  });
}

export function readListOperationsSettings(reader: InputReader) {
  const isWhole = reader.text('since') !== '' || reader.text('fail-on') !== '';
  return reader.complete({
    projectId: reader.parse('project-id', onlyPathIdParser('a project id')),
    ...readCommonInputs(reader, operationFields, isWhole ? '0' : '100'),
    since: reader.optional('since', parseAge),
  });
}

function readCommonInputs(reader: InputReader, fields: readonly string[], defaultLimit = '0') {
  return {
    filter: reader.parse('filter', (text) => parseFilter(text, fields)),
    limit: reader.parse('limit', parseLimit, reader.text('limit') || defaultLimit),
    failOn: reader.optional('fail-on', oneOfParser(['empty', 'match'])),
  };
}

const parseLimit: Parse<number> = (text) => {
  if (!/^\d{1,9}$/.test(text))
    throw new BadValue('is not a number of records; expected a whole number of at most 9 digits, or 0 for all');
  return Number(text) || Number.POSITIVE_INFINITY;
};

/** GitHub limits a matrix to 256 jobs per workflow run. */
const parseMaxBatches: Parse<number> = (text) => {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 256) throw new BadValue('is not a number of batches; expected 1 to 256');
  return number;
};
