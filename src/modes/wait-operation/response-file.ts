import { readInputFile } from '../../action/inputs/input-file.js';
import { BadValue } from '../../action/inputs/input-values.js';
import { maxBytes } from '../../api/control-api.js';
import { hasError } from '../../api/parse-response.js';
import { operationsNamedIn } from '../../api/records.js';
import { isAbsent, isObject, type Json, parseJsonOrUndefined, toText } from '../../text/json.js';

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const otherWay = 'To wait for all operations of the project instead, set operation-id: all';

/** Returns the ids of the operations in a file with an API response, or with an array of operations. */
export function readOperationIds(path: string, folder: string, projectId: string | undefined): string[] {
  const body = parseJsonOrUndefined(readInputFile(path, folder, maxBytes));
  if (body === undefined)
    throw new BadValue('is empty or not JSON; expected only the body of an API response (curl -o, without -i)');
  const fields = isObject(body) ? body : { operations: body };
  const named = operationsNamedIn(fields);
  if (named === undefined || (isAbsent(fields['operations']) && isAbsent(fields['operation'])))
    throw new BadValue(
      `contains no operations; expected an API response with operations or operation. If the request failed, the file holds the error message: add --fail-with-body to curl. ${otherWay}`,
    );
  if (named.length === 0 && hasError(body))
    throw new BadValue('contains an error and no operations, so the request has failed. Check the request');
  return [...new Set(named.map(({ place, record }) => parseIdAt(place, record, projectId)))];
}

function parseIdAt(place: string, value: Json, projectId: string | undefined): string {
  const { id, project_id } = isObject(value) ? value : {};
  if (typeof id !== 'string' || !uuid.test(id)) throw new BadValue(`has no UUID in ${place}.id`);
  if (projectId !== undefined && !isAbsent(project_id) && toText(project_id) !== projectId)
    throw new BadValue(`contains an operation of another project (${place}.project_id). ${otherWay}`);
  return id.toLowerCase();
}
