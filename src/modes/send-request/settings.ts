import { unescape as decodePath } from 'node:querystring';
import type { InputReader } from '../../action/inputs/input-reader.js';
import {
  BadValue,
  type Parse,
  quote,
  readInputFile,
  rejectLeftover,
  whyEmpty,
} from '../../action/inputs/input-values.js';
import type { Call } from '../../api/control-api.js';
import { isAbsent, parseJsonOrUndefined } from '../../text/json.js';
import { readWaitInputs } from '../wait-operation/settings.js';

export type SendRequestSettings = ReturnType<typeof readSendRequestSettings>;

export function readSendRequestSettings(reader: InputReader) {
  reader.rejectNodeDebug();
  const folder = reader.environment['GITHUB_WORKSPACE'] ?? '';
  return reader.complete({
    request: reader.parse('request', parseRequest),
    /** JSON. */
    body:
      reader.text('body-file') === ''
        ? reader.optional('body', parseBody)
        : reader.parse('body-file', (path) => parseBody(readInputFile(path, folder))),
    ...readWaitInputs(reader),
  });
}

/** A method, and a path below `base-url`. */
const parseRequest: Parse<Pick<Call, 'method' | 'path'>> = (text) => {
  const expected = 'expected POST, PUT, PATCH or DELETE and a path, such as “POST /projects/<id>/branches”';
  if (text === '') throw new BadValue(`is empty; ${expected}. ${whyEmpty}`);
  const [, method, path = ''] = /^(POST|PUT|PATCH|DELETE) \/(.*)$/s.exec(text) ?? [];
  const problem = method === undefined ? `is no request; ${expected}` : pathProblem(rejectLeftover(path, true));
  // A query can hold a secret.
  if (problem !== undefined) throw new BadValue(`${quote(text.split('?')[0] ?? '')} ${problem}`, true);
  return { method: method as Call['method'], path };
};

const badParts: readonly [parts: readonly string[], problem: string][] = [
  [['', 'null', 'undefined'], `has an empty part, or a part “null” or “undefined”. ${whyEmpty}`],
  [['.', '..'], 'has a part “.” or “..”; expected the whole path'],
  [['api_keys'], 'is about API keys. They have modes of their own: create-key, list-keys, revoke-key'],
];

function pathProblem(path: string): string | undefined {
  // A URL parser drops tabs and line breaks, and reads `\` as `/`.
  if (/[^!-~]|[\\#]/.test(path)) return 'has a space, a “#” or another character that must be percent-encoded';
  // A proxy and the service may each decode it. Some servers ignore what follows a `;`.
  const decoded = decodePath(path.split('?')[0] ?? '');
  const parts = `${decoded}/${decodePath(decoded)}`.toLowerCase().split(/[/\\;]/);
  return badParts.find(([bad]) => bad.some((part) => parts.includes(part)))?.[1];
}

/** No error quotes a body, because it can hold a secret. */
const parseBody: Parse<string> = (text) => {
  const body = parseJsonOrUndefined(text);
  if (isAbsent(body)) throw new BadValue(`is ${body === null ? 'null' : 'not JSON'}; expected a JSON text`, true);
  return text;
};
