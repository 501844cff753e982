import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BadValue, quote, rejectLeftover } from '../../action/inputs/input-values.js';
import { maxBytes } from '../../api/control-api.js';
import { hasError } from '../../api/parse-response.js';
import { hasContent, isAbsent, isObject, type Json, parseJsonOrUndefined, toText } from '../../text/json.js';
import { uuid } from './operation-ids.js';

/** A relative path starts at `folder`. No error quotes the file, because an API response can contain a password. */
export function readOperationIds(path: string, folder: string, projectId: string | undefined): string[] {
  if (/^[{[]/.test(path)) throw new BadValue('is JSON; expected the path of a file that contains it', true);
  const text = readText(path, folder);
  if (text.trim() === '')
    throw new BadValue(
      'is empty; expected the JSON body of an API response. The service may have answered with a redirect: check the URL of the request',
    );
  const body = parseJsonOrUndefined(text);
  if (body === undefined)
    throw new BadValue(
      'is not JSON; expected only the body of an API response (curl -o, without -i). If it is an HTML page, check the URL of the request',
    );
  const { operations, operation, project, project_id, code, message } = isObject(body) ? body : {};
  if (!isAbsent(operations) && !Array.isArray(operations))
    throw new BadValue('has a field `operations` that is not an array; expected the JSON body of an API response');
  if (isAbsent(operations) && isAbsent(operation))
    throw new BadValue(
      'contains no operations; expected an API response with `operations` or `operation`. If the request failed, the file holds the error message. Add --fail-with-body to curl, so that a failed request fails its own step. To wait for ids, use operation-id',
    );
  const isError = hasError(body) || (hasContent(code) && hasContent(message));
  if ((operations ?? []).length === 0 && isAbsent(operation) && isError)
    throw new BadValue('contains an error and no operations, so the request has failed. Check the request');
  rejectOtherProject(project_id, '`project_id`', projectId);
  rejectOtherProject(isObject(project) ? project['id'] : undefined, '`project.id`', projectId);
  const ids = (operations ?? []).map((value, index) => parseIdAt(`operations[${index}]`, value, projectId));
  if (!isAbsent(operation)) ids.push(parseIdAt('operation', operation, projectId));
  return [...new Set(ids)];
}

function readText(path: string, folder: string): string {
  const file = resolve(folder, path);
  try {
    const stat = statSync(file);
    // Reading a pipe would block until the writer closes it.
    if (!stat.isFile()) throw new BadValue('is not a regular file; expected the file that an earlier step wrote');
    // A file of the kernel in /proc has no size, but its content may never end.
    if (stat.size === 0) return '';
    if (stat.size > maxBytes) throw new BadValue(`is larger than ${maxBytes / 2 ** 20} MiB; expected one API response`);
    const bytes = readFileSync(file);
    // Windows PowerShell redirects output as UTF-16. TextDecoder removes the byte order mark that some shells write.
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  } catch (error) {
    if (error instanceof BadValue) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new BadValue(`cannot be read (${code ?? 'no reason given'}). Check the permissions of the file`);
    // A file that exists may have any name, such as env.json. Only a missing file can be an expression without a value.
    rejectLeftover(path);
    const absent = `does not exist (looked for ${quote(file, 300)}); expected a file that an earlier step of this job wrote. A checkout after that step deletes it, and working-directory does not apply here. If the job uses “container:”, or if the step that wrote the file is a container action, paths differ from those on the host. In that case, write the file under GITHUB_WORKSPACE, and set response-file to its path relative to the workspace`;
    throw new BadValue(absent);
  }
}

function parseIdAt(place: string, value: Json, projectId: string | undefined): string {
  const { id, project_id } = isObject(value) ? value : {};
  if (typeof id !== 'string' || !uuid.test(id))
    throw new BadValue(`has no UUID in \`${place}.id\`; expected an operation id`);
  rejectOtherProject(project_id, `\`${place}.project_id\``, projectId);
  return id.toLowerCase();
}

function rejectOtherProject(found: Json | undefined, place: string, projectId: string | undefined): void {
  const problem = `contains an operation of another project (${place}); expected operations of the project in project-id`;
  if (projectId !== undefined && !isAbsent(found) && toText(found) !== projectId) throw new BadValue(problem);
}
