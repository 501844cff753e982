import { isAbsent, isObject, isText, type Json, type JsonObject, toText } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import type { Page } from './paging.js';

/** A record as the service sent it. */
export interface ApiRecord {
  readonly id: string;
  readonly record: JsonObject;
}

/** An operation: the fields that the action needs, and the record as the service sent it. */
export interface Operation extends ApiRecord {
  readonly status: string;
}

export const operationFields: readonly string[] = [
  'id',
  'project_id',
  'branch_id',
  'endpoint_id',
  'action',
  'status',
  'failures_count',
  'created_at',
  'updated_at',
];

/** The actions that the API documents. Services may have more. */
export const operationActions: readonly string[] = [
  'apply_config',
  'apply_storage_config',
  'check_availability',
  'create_branch',
  'create_timeline',
  'delete_tenant',
  'start_compute',
  'suspend_compute',
];

export const projectFields: readonly string[] = [
  'id',
  'name',
  'platform_id',
  'region_id',
  'provisioner',
  'pg_version',
  'locked',
  'cpu_used_sec',
  'proxy_host',
  'branch_logical_size_limit',
  'created_at',
  'updated_at',
];

/** An id is a string or an integer. Other numbers are rejected, because they may be rounded. */
export function parseProject(value: Json, place: string): ApiRecord {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { id } = value;
  if (id === undefined || id === '' || (typeof id !== 'string' && !Number.isSafeInteger(id)))
    throw unexpectedShape(`${place}.id`, 'a string', id);
  return { id: toText(id), record: value };
}

/**
 * An id becomes a part of a URL, which cannot contain a lone surrogate or a megabyte. It also becomes a plain output. If a
 * later step prints that, the runner must not execute it as a command.
 */
const usableId = /^(?!\s*::)(?!.*##\[)[^\p{Cs}\p{Cc}]{1,4096}$/su;

export function parseOperation(value: Json | undefined, place: string, projectId: string): Operation {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { id, status, project_id } = value;
  if (!isText(id) || !usableId.test(id)) throw unexpectedShape(`${place}.id`, 'the id of an operation', id);
  if (!isText(status)) throw unexpectedShape(`${place}.status`, 'a string', status);
  if (!isAbsent(project_id) && toText(project_id) !== projectId) {
    throw unexpectedShape(`${place}.project_id`, 'the requested project', project_id);
  }
  return { id: id.toLowerCase(), status, record: value };
}

/** An optional field of a record, as text. */
export function fieldText({ record }: ApiRecord, name: string): string | undefined {
  const value = record[name];
  return isAbsent(value) ? undefined : toText(value);
}

/** Milliseconds since 1970. `undefined` if the field is absent or not a timestamp. */
export function fieldTime(recorded: ApiRecord, name: string): number | undefined {
  const text = fieldText(recorded, name) ?? '';
  // Date.parse alone reads a bare number as a year or month, and a time without a zone as local time.
  const [, zone] = /^\d{4}-\d\d-\d\dT[\d:.,]+(.*)$/.exec(text) ?? [];
  const time = zone === undefined ? Number.NaN : Date.parse(zone === '' ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : time;
}

/** A page of the list that the body holds under `name`. */
export function parsePage<T>(body: Json, name: string, parse: (item: Json, place: string) => T): Page<T> {
  const list = parseList(body, name);
  return { records: list.map((item, index) => parse(item, `${name}[${index}]`)), cursor: parseCursor(body) };
}

function parseList(body: Json, name: string): Json[] {
  if (!isObject(body))
    throw new UnexpectedShapeError(
      `\`${name}\` is missing: the body is ${Array.isArray(body) ? 'an array' : 'not an object'}`,
    );
  const list = body[name];
  if (!Array.isArray(list)) throw unexpectedShape(name, 'an array', list);
  return list;
}

export function parseCursor(body: Json): string | undefined {
  const pagination = isObject(body) ? body['pagination'] : undefined;
  if (isAbsent(pagination)) return undefined;
  const cursor = isObject(pagination) ? pagination['cursor'] : undefined;
  // A cursor of an unexpected type is an error, not the end of the list. Otherwise the next page would be missed silently.
  if (!isObject(pagination) || typeof cursor === 'boolean' || (typeof cursor === 'object' && cursor !== null)) {
    throw unexpectedShape('pagination.cursor', 'a string', cursor ?? pagination);
  }
  return isAbsent(cursor) || cursor === '' ? undefined : toText(cursor);
}

/** A required field is missing or has an unexpected value. The message names the field. */
export class UnexpectedShapeError extends Error {}

export function unexpectedShape(place: string, expected: string, value: Json | undefined): UnexpectedShapeError {
  const got =
    value === undefined
      ? 'missing'
      : sanitizeLine(Array.isArray(value) ? 'an array' : isObject(value) ? 'an object' : toText(value), 60);
  return new UnexpectedShapeError(`\`${place}\` should be ${expected}, but is ${got || 'empty'}`);
}

/** Formats a time of the record to the second: `2026-01-31 09:30:00Z`. */
export function displayTime(recorded: ApiRecord, name: string): string {
  return sanitizeLine(fieldText(recorded, name) ?? '', 40).replace(
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?/,
    '$1 $2',
  );
}
