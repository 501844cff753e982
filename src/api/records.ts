import { isAbsent, isObject, isText, type Json, type JsonObject, toText } from '../text/json.js';
import { unexpectedShape } from './parse-response.js';

/** A record as the service sent it. */
export interface ApiRecord {
  readonly id: string;
  readonly record: JsonObject;
}

export interface Operation extends ApiRecord {
  readonly status: string;
}

export const words = (text: string): readonly string[] => text.split(' ');

/** The documented fields and actions. The service may send others. */
export const operationFields = words(
  'id project_id branch_id endpoint_id action status failures_count created_at updated_at',
);
export const operationActions = words(
  'apply_config apply_storage_config check_availability create_branch create_timeline delete_tenant start_compute suspend_compute',
);
export const projectFields = words(
  'id name platform_id region_id provisioner pg_version locked cpu_used_sec proxy_host branch_logical_size_limit created_at updated_at',
);

/** Accepts a string or an integer as the id. Other numbers are rejected, because JSON.parse may have rounded them. */
export function parseProject(value: Json, place: string): ApiRecord {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { id } = value;
  if (id === undefined || id === '' || (typeof id !== 'string' && !Number.isSafeInteger(id)))
    throw unexpectedShape(`${place}.id`, 'a string or an integer', id);
  return { id: toText(id), record: value };
}

/** Excludes ids that do not fit into a URL, and ids that the runner would execute as a command if a step printed them. */
const usableId = /^(?!\s*::)(?!.*##\[)[^\p{Cs}\p{Cc}]{1,4096}$/su;

export function parseOperation(value: Json | undefined, place: string, projectId: string): Operation {
  if (!isObject(value)) throw unexpectedShape(place, 'an object', value);
  const { id, status, project_id } = value;
  if (!isText(id) || !usableId.test(id)) throw unexpectedShape(`${place}.id`, 'an operation id', id);
  if (!isText(status)) throw unexpectedShape(`${place}.status`, 'a string', status);
  if (!isAbsent(project_id) && toText(project_id) !== projectId)
    throw unexpectedShape(`${place}.project_id`, 'the requested project', project_id);
  return { id: id.toLowerCase(), status, record: value };
}
