import type { HttpHeaders } from '../http/exchange.js';
import { hasContent, idText, isAbsent, isObject, isText, type Json, type JsonObject, toText } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { rejectPartialList } from './paging.js';
import { UnexpectedShapeError, unexpectedShape } from './parse-response.js';

export interface ApiRecord {
  readonly id: string;
  /** As the service sent it. */
  readonly record: JsonObject;
}

export interface Operation extends ApiRecord {
  readonly status: string;
}

/** The documented fields. The service may send others. */
export const operationFields = [
  ...['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'status', 'failures_count'],
  ...['created_at', 'updated_at'],
];
export const projectFields = [
  ...['id', 'name', 'platform_id', 'region_id', 'provisioner', 'pg_version', 'locked', 'cpu_used_sec', 'proxy_host'],
  ...['branch_logical_size_limit', 'created_at', 'updated_at'],
];
export const keyFields = ['id', 'name', 'created_at', 'last_used_at', 'last_used_from_addr'];
/** The service starts these operations by itself. */
export const automaticActions = [
  ...['suspend_compute', 'check_availability', 'tenant_detach', 'tenant_reattach'],
  ...['timeline_archive', 'timeline_unarchive'],
];
export const knownActions = [
  ...['apply_config', 'apply_storage_config', 'create_branch', 'create_timeline', 'delete_tenant', 'start_compute'],
  ...automaticActions,
];

export function parseProject(value: Json, place: string): ApiRecord {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  return { id: usableId(value['id'], place), record: value };
}

/** True for an id that cannot be one part of a path, whether a user or the service gives it. */
export const isNoPathPart = (id: string): boolean => /^\.\.?$|[/\p{Cc}\p{Cs}]/u.test(id);

/** Rejects what does not fit into a URL, such as `..`. */
function usableId(value: Json | undefined, place: string): string {
  const id = idText(value);
  if (id === undefined || !/^(?!\s*$|\.\.?$)[^\p{Cs}\p{Cc}]{1,4096}$/u.test(id))
    throw unexpectedShape(`${place}.id`, 'a usable id', value);
  return id;
}

export function parseOperation(value: Json | undefined, place: string, projectId: string): Operation {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { status, project_id } = value;
  const id = usableId(value['id'], place);
  // The runner would obey it as a command if a later step printed it.
  if (/^\s*::|##\[/.test(id)) throw unexpectedShape(`${place}.id`, 'a usable id', id);
  if (!isText(status)) throw unexpectedShape(`${place}.status`, 'a string', status);
  if (!isAbsent(project_id) && idText(project_id) !== projectId)
    throw unexpectedShape(`${place}.project_id`, 'the requested project', project_id);
  return { id: id.toLowerCase(), status, record: value };
}

/** The records of the operations that a response names, each with its place. Undefined if `operations` is no list. */
export function operationsNamedIn({ operations, operation }: JsonObject) {
  if (!isAbsent(operations) && !Array.isArray(operations)) return undefined;
  const named = (operations ?? []).map((record, index) => ({ place: `operations[${index}]`, record }));
  return isAbsent(operation) ? named : [...named, { place: 'operation', record: operation }];
}

export interface Key extends ApiRecord {
  readonly name: string | undefined;
  /** In milliseconds since 1970, on the service's clock. Undefined if the record has no readable time. */
  readonly createdAt: number | undefined;
}

/** Accepts only the documented response, because a key that the response does not contain is treated as gone. */
export function parseKeyList(body: Json, headers: HttpHeaders): Key[] {
  rejectPartialList(body, headers);
  if (!Array.isArray(body)) throw unexpectedShape('body', 'an array', body);
  const keys = body.map((item, index) => parseKey(item, `[${index}]`));
  const valid = keys.filter(({ record }) => record['revoked'] !== true && !hasContent(record['revoked_at']));
  return [...new Map(valid.map((key) => [key.id, key])).values()];
}

function parseKey(value: Json, place: string): Key {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  // The documented list has no field `key`. Such a field could hold a secret, so outputs never contain it.
  const { key: _, ...record } = value;
  const id = integerDigits(record['id']);
  if (id === undefined) throw unexpectedShape(`${place}.id`, 'an integer', record['id']);
  const name = isText(record['name']) ? record['name'] : undefined;
  return { id, name, createdAt: fieldTime({ id, record }, 'created_at'), record };
}

/** A later step may print it. If it began with `::` or contained `##[`, the runner would run it as a command. */
const usableSecret = /^(?!::)(?!.*##\[)[\x21-\x7e]{8,}$/;

/** The service sends the secret of a key only in the response that creates it. So no error quotes this response. */
export function parseMintedKey(body: Json, parentKey: string) {
  if (!isObject(body)) throw new UnexpectedShapeError('the body is not an object');
  const secret = body['key'];
  if (!isText(secret) || !usableSecret.test(secret) || secret === parentKey)
    throw new UnexpectedShapeError('`key` is not a usable API key');
  const id = integerDigits(body['id']);
  if (id === undefined) throw new UnexpectedShapeError('`id` is not an integer');
  return { id, secret };
}

export function parseRevoked(body: Json, id: string): boolean {
  if (!isObject(body)) return false;
  // The revocation of another key proves nothing about the requested one.
  if (!isAbsent(body['id']) && integerDigits(body['id']) !== id) throw unexpectedShape('id', id, body['id']);
  return body['revoked'] === true;
}

function integerDigits(value: Json | undefined): string | undefined {
  const id = idText(value) ?? '';
  return /^\d{1,100}$/.test(id) ? id : undefined;
}

export function fieldText({ record }: ApiRecord, name: string): string | undefined {
  const value = record[name];
  return isAbsent(value) ? undefined : toText(value);
}

/** Safe to print. Empty if the record does not have the field. */
export function displayText(recorded: ApiRecord, name: string, max: number): string {
  return sanitizeLine(fieldText(recorded, name) ?? '', max);
}

/** In milliseconds since 1970. Undefined if the field is absent or not a timestamp. */
export function fieldTime(recorded: ApiRecord, name: string): number | undefined {
  // Date.parse alone would read a bare number as a year or month, and a time without a zone as local time.
  const [, date, hours, zone] = /^(\d{4}-\d\d-\d\d)[T ]([\d:.]+)(.*)/.exec(fieldText(recorded, name) ?? '') ?? [];
  const time = Date.parse(`${date}T${hours}${zone || 'Z'}`);
  // For a missing time, some services send a zero timestamp, such as 0001-01-01.
  return time > 0 ? time : undefined;
}
