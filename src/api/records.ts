import { idText, isAbsent, isObject, isText, type Json, type JsonObject, toText } from '../text/json.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { unexpectedShape } from './parse-response.js';

/** A record as the service sent it. */
export interface ApiRecord {
  readonly id: string;
  readonly record: JsonObject;
}

export interface Operation extends ApiRecord {
  readonly status: string;
}

/** The documented fields and actions. The service may send others. */
export const operationFields = [
  ...['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'status', 'failures_count'],
  ...['created_at', 'updated_at'],
];
export const operationActions = [
  ...['apply_config', 'apply_storage_config', 'check_availability', 'create_branch', 'create_timeline'],
  ...['delete_tenant', 'start_compute', 'suspend_compute'],
];
/** The service starts these operations by itself. */
export const automaticActions = [
  'suspend_compute',
  'check_availability',
  'tenant_detach',
  'tenant_reattach',
  'timeline_archive',
  'timeline_unarchive',
];
export const projectFields = [
  ...['id', 'name', 'platform_id', 'region_id', 'provisioner', 'pg_version', 'locked', 'cpu_used_sec', 'proxy_host'],
  ...['branch_logical_size_limit', 'created_at', 'updated_at'],
];

export function parseProject(value: Json, place: string): ApiRecord {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const id = idText(value['id']);
  if (id === undefined) throw unexpectedShape(`${place}.id`, 'a string or an integer', value['id']);
  return { id, record: value };
}

/** Excludes ids that do not fit into a URL, such as `..`, and ids that the runner would obey as a command. */
const usableId = /^(?!\s*::|\.\.?$)(?!.*##\[)[^\p{Cs}\p{Cc}]{1,4096}$/su;

export function parseOperation(value: Json | undefined, place: string, projectId: string): Operation {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { id, status, project_id } = value;
  if (!isText(id) || !usableId.test(id)) throw unexpectedShape(`${place}.id`, 'an operation id', id);
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

export function fieldText({ record }: ApiRecord, name: string): string | undefined {
  const value = record[name];
  return isAbsent(value) ? undefined : toText(value);
}

/** The text of a field, safe to print. Empty if the record does not have the field. */
export function displayText(recorded: ApiRecord, name: string, max: number): string {
  return sanitizeLine(fieldText(recorded, name) ?? '', max);
}

/** Formats a timestamp to the second, for example `2026-01-31 09:30:00Z`. */
export function displayTime(recorded: ApiRecord, name: string): string {
  return displayText(recorded, name, 40).replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?/, '$1 $2');
}

/** Returns a timestamp in milliseconds since 1970, or undefined if the field is absent or not a timestamp. */
export function fieldTime(recorded: ApiRecord, name: string): number | undefined {
  // Some services write a space in place of the `T`.
  const text = (fieldText(recorded, name) ?? '').replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  // Date.parse alone would read a bare number as a year or month, and a time without a zone as local time.
  const [, local, zone = ''] = /^(\d{4}-\d\d-\d\dT[\d:.,]+)(.*)/.exec(text) ?? [];
  // Databases shorten a zone of whole hours to `+00`.
  const time = local === undefined ? Number.NaN : Date.parse(local + (zone || 'Z').replace(/^[+-]\d\d$/, '$&:00'));
  // For a missing time, some services send a zero timestamp, such as 0001-01-01.
  return time > 0 ? time : undefined;
}
