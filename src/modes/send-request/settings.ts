import { readInputFile } from '../../action/inputs/input-file.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import { BadValue, type Parse, quote, rejectLeftover, whyEmpty } from '../../action/inputs/input-values.js';
import { maxBytes } from '../../api/control-api.js';
import type { Change } from '../../api/request.js';
import { parseJsonOrUndefined } from '../../text/json.js';
import { rejectNodeDebug } from '../current-run.js';
import { readWaitInputs } from '../wait-operation/settings.js';

export type SendRequestSettings = ReturnType<typeof readSendRequestSettings>;

export function readSendRequestSettings(reader: InputReader) {
  rejectNodeDebug(reader);
  const folder = reader.environment['GITHUB_WORKSPACE'] ?? '';
  return reader.complete({
    request: reader.parse('request', parseRequest),
    /** JSON. */
    body:
      reader.text('body-file') === ''
        ? reader.optional('body', parseBody)
        : reader.parse('body-file', (path) => parseBody(readInputFile(path, folder, maxBytes))),
    ...readWaitInputs(reader),
  });
}

/** A method, and a path below `base-url`. */
export const parseRequest: Parse<Pick<Change, 'method' | 'path'>> = (text) => {
  const expected = 'expected POST, PUT, PATCH or DELETE and a path, such as “POST /projects/<id>/branches”';
  if (text === '') throw new BadValue(`is empty; ${expected}. ${whyEmpty}`);
  const [, method, path = ''] = /^(POST|PUT|PATCH|DELETE) \/(.*)$/s.exec(text) ?? [];
  const problem = method === undefined ? `is no request; ${expected}` : pathProblem(rejectLeftover(path, true));
  // A query can hold a secret.
  if (problem !== undefined) throw new BadValue(`${quote(text.split('?')[0] ?? '')} ${problem}`, true);
  return { method: method as Change['method'], path };
};

function pathProblem(path: string): string | undefined {
  // A URL parser drops tabs and line breaks, and reads `\` as `/`.
  if (/[^\x21-\x7e]|[\\#<>"{}|^`]/.test(path))
    return 'has a space, a “#” or another character that no URL has; expected it percent-encoded';
  const decoded = decode(path.split('?')[0] ?? '');
  if (decoded === undefined) return 'has a “%” that begins no character; expected “%25” in its place';
  // A proxy and the service may each decode it.
  const parts = [decoded, decode(decoded) ?? decoded].flatMap((text) => text.split(/[/\\]/));
  if (parts.includes('')) return `has an empty part between two “/” or at its end. ${whyEmpty}`;
  if (parts.some((part) => /^(null|undefined)$/.test(part))) return `has a part “null” or “undefined”. ${whyEmpty}`;
  if (parts.some((part) => /^\.\.?(;|$)/.test(part))) return 'has a part “.” or “..”; expected the whole path';
  if (parts.some((part) => /^\s*api_keys\b/i.test(part)))
    return 'is about API keys; expected another path. Keys have modes of their own: create-key, list-keys, revoke-key';
  return undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** No error quotes a body, because it can hold a secret. */
const parseBody: Parse<string> = (text) => {
  const body = parseJsonOrUndefined(text);
  if (body === undefined) throw new BadValue('is not JSON; expected a JSON text', true);
  if (body === null)
    throw new BadValue('is null, as a failed jq command or expression gives it; expected a JSON object', true);
  return text;
};
