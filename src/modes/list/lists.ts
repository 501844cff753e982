import type { InputReader, Valid } from '../../action/inputs/input-reader.js';
import { BadValue, oneOfParser, onlyPathIdParser, type Parse, parseAge } from '../../action/inputs/input-values.js';
import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { Outputs } from '../../action/step-report.js';
import type { ControlApi } from '../../api/control-api.js';
import type { Page } from '../../api/paging.js';
import {
  type ApiRecord,
  displayText,
  fieldTime,
  type Key,
  keyFields,
  type Operation,
  operationFields,
  projectFields,
} from '../../api/records.js';
import { UserError } from '../../http/errors.js';
import { type Send, withRetries } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, sentences } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import { keyCells, keyHeadings } from '../keys-report.js';
import { define } from '../mode.js';
import { operationTable, operationTexts } from '../operation-texts.js';
import { parseFilter } from './filter.js';

interface List<One extends ApiRecord, Settings extends ListSettings> {
  readonly noun: 'key' | 'operation' | 'project';
  readonly read: (reader: InputReader) => Settings;
  readonly pages: (settings: Settings, api: ControlApi, send: Send) => AsyncIterable<Page<One>>;
  /** Besides the filter. `nowMs`: time on the service's clock. */
  readonly isWanted: (one: One, settings: Settings, nowMs: number) => boolean;
  readonly criteria: (settings: Settings) => (string | false)[];
  readonly outputs?: (ids: readonly string[], settings: Settings) => Outputs;
  readonly table: (records: readonly One[], nowMs: number) => string;
}

type ListSettings = Valid<ReturnType<typeof readCommonInputs>>;

const advice = {
  ok: '',
  empty: 'With fail-on: empty, this fails the step. Check filter and the other inputs that limit the list.',
  match: 'With fail-on: match, this fails the step. Read all of them from the file in the output result-file.',
};

function defineList<One extends ApiRecord, Settings extends ListSettings>(list: List<One, Settings>) {
  const { noun, read, pages, isWanted, criteria, outputs, table } = list;
  return define({
    read,
    /** Reads pages until `limit` records match, or until a page has no wanted record. */
    async run(settings: Settings, collaborators) {
      const { api, deadline } = collaborators;
      const { filter, failOn } = settings;
      const limit = settings.limit || Number.POSITIVE_INFINITY;
      // A record that is listed twice counts if the filter admits any of its versions.
      const matches = new Map<string, One>();
      let count = 0;
      for await (const { records } of pages(settings, api, withRetries(collaborators))) {
        // Only a response shows the service's clock.
        const nowMs = api.serviceEpochMs(deadline.clock);
        const wanted = records.filter((one) => isWanted(one, settings, nowMs));
        for (const { record } of records) filter.note(record);
        for (const one of wanted) if (filter.admits(one.record)) matches.set(one.id, one);
        count += records.length;
        // The newest operations come first, so no later page has one that `since` admits.
        if (matches.size >= limit || wanted.length === 0) break;
      }
      const { error, warnings } = filter.missing;
      if (error !== undefined) throw new UserError(error);
      const found = matches.size === 0 ? 'empty' : 'match';
      const status: keyof typeof advice = found === failOn ? found : 'ok';
      const isLimited = matches.size >= limit;
      return { status, records: [...matches.values()].slice(0, limit), count, isLimited, warnings };
    },
    report({ status, records, count, isLimited, warnings }, settings, { nowMs }) {
      const headline = `${plural(records.length, noun)}${isLimited ? ' (limit reached, so the list may go on)' : ''}`;
      const texts = [...criteria(settings), ...settings.filter.texts].filter((text) => text !== false);
      const why = texts.length > 0 && `Criteria: ${texts.join(', ')}`;
      const nameOf = (record: One) => {
        const name = displayText(record, noun === 'operation' ? 'action' : 'name', 80);
        return `${sanitizeId(record.id)}${name && ` (${name})`}`;
      };
      const error = () => {
        const names = joinFirst(records.map(nameOf), messageBounds);
        return sentences(`Found ${headline}${names && `: ${names}`}`, why, advice[status]);
      };
      // Ids are strings in the outputs, because fromJSON rounds large numbers.
      const ids = records.map(({ id }) => id);
      return {
        status,
        succeeded: status === 'ok',
        headline,
        error: status === 'ok' ? undefined : error(),
        warnings,
        outputs: {
          count: ids.length,
          [`${noun}-ids`]: ids,
          ...outputs?.(ids, settings),
          [`${noun}s`]: records.map(({ record }) => record),
        },
        resultFields: {},
        details: `<p>${[...texts.map(codeHtml), `${ids.length} of ${count}`].join(', ')}.</p>\n${table(records, nowMs)}`,
      };
    },
  });
}

function readCommonInputs(reader: InputReader, fields: readonly string[], defaultLimit = '0') {
  return {
    filter: reader.parse('filter', (text) => parseFilter(text, fields)),
    limit: reader.parse('limit', numberParser('records', 0, 999_999_999), reader.text('limit') || defaultLimit),
    failOn: reader.optional('fail-on', oneOfParser(['empty', 'match'])),
  };
}

function numberParser(what: string, least: number, most: number): Parse<number> {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (number < least || number > most) throw new BadValue(`is not a number of ${what}; expected ${least} to ${most}`);
    return number;
  };
}

export const listKeysMode = defineList({
  noun: 'key',
  read: (reader) =>
    reader.complete({ ...readCommonInputs(reader, keyFields), olderThan: reader.optional('older-than', parseAge) }),
  pages: async function* (_, api, send) {
    yield { records: await api.keys(send), cursor: undefined };
  },
  isWanted: ({ createdAt = Number.NEGATIVE_INFINITY }: Key, { olderThan }, nowMs) =>
    olderThan === undefined || createdAt < nowMs - olderThan,
  criteria: ({ olderThan }) => [olderThan !== undefined && `older than ${formatDuration(olderThan)}`],
  table: (records, nowMs) => truncatedTable(keyHeadings, records, (key) => keyCells(key, nowMs)),
});

export const listOperationsMode = defineList({
  noun: 'operation',
  read: (reader) => {
    const isWhole = reader.text('since') !== '' || reader.text('fail-on') !== '';
    return reader.complete({
      projectId: reader.parse('project-id', onlyPathIdParser('a project id')),
      ...readCommonInputs(reader, operationFields, isWhole ? '0' : '100'),
      since: reader.optional('since', parseAge),
    });
  },
  pages: ({ projectId }, api, send) => api.operations(projectId, send),
  isWanted: (operation: Operation, { since = Number.POSITIVE_INFINITY }, nowMs) =>
    (fieldTime(operation, 'created_at') ?? nowMs) >= nowMs - since,
  criteria: ({ projectId, since }) => [
    `project ${sanitizeId(projectId)}`,
    since !== undefined && `created within ${formatDuration(since)}`,
  ],
  outputs: (ids) => ({ 'operation-id': ids[0] ?? '' }),
  table: (records, nowMs) => operationTable(records, (one) => operationTexts(one, nowMs)),
});

const projectHeadings = ['Project', 'Name', 'Region', 'Version', 'Created'];

export const listProjectsMode = defineList({
  noun: 'project',
  read: (reader) =>
    reader.complete({
      ...readCommonInputs(reader, projectFields),
      // GitHub limits a matrix to 256 jobs per workflow run.
      maxBatches: reader.parse('max-batches', numberParser('batches', 1, 256)),
      orgId: reader.optional('org-id', onlyPathIdParser('an organization id')),
    }),
  pages: ({ orgId }, api, send) => api.projects(send, orgId),
  isWanted: () => true,
  criteria: () => [],
  outputs: (ids, { maxBatches }) => ({ batches: splitIntoBatches(ids, maxBatches) }),
  table: (records) =>
    truncatedTable(projectHeadings, records, (project) => {
      // Host names are left out, because summaries of public repositories are public.
      const texts = ['name', 'region_id', 'pg_version'].map((field) => displayText(project, field, 80));
      return [sanitizeId(project.id), ...texts, displayText(project, 'created_at', 40)].map(codeHtml);
    }),
});

/** Makes as many batches as possible. Their sizes differ by at most one. */
export function splitIntoBatches(ids: readonly string[], maxBatches: number): string[][] {
  const number = Math.min(maxBatches, ids.length);
  const start = (index: number) => Math.floor((index * ids.length) / number);
  return Array.from({ length: number }, (_, index) => ids.slice(start(index), start(index + 1)));
}
