import { readInputFile } from '../../action/inputs/input-file.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import { BadValue, leftoverProblem, oneOfParser, type Parse, parseBoolean } from '../../action/inputs/input-values.js';
import { maxBytes } from '../../api/control-api.js';
import type { Change } from '../../api/request.js';
import { parseJsonOrUndefined } from '../../text/json.js';
import { parseDuration } from '../../time/duration.js';
import { rejectNodeDebug } from '../current-run.js';
import { pollIntervalParser } from '../wait-operation/settings.js';

export type SendRequestSettings = ReturnType<typeof readSendRequestSettings>;

export function readSendRequestSettings(reader: InputReader) {
  rejectNodeDebug(reader);
  reader.rejectBoth('body', 'body-file');
  const folder = reader.environment['GITHUB_WORKSPACE'] ?? '';
  const isInFile = reader.text('body-file') !== '';
  return reader.complete({
    request: reader.parse('request', parseRequest, reader.text('request'), withoutQuery),
    /** JSON. */
    body: isInFile
      ? reader.parse('body-file', (path) => parseBody(readInputFile(path, folder, maxBytes)))
      : reader.optional('body', parseBody),
    failOnEmpty: reader.optional('fail-on', oneOfParser(['empty'])) === 'empty',
    pollInterval: reader.parse('poll-interval', pollIntervalParser(parseDuration(reader.text('timeout')))),
    failFast: reader.parse('fail-fast', parseBoolean),
  });
}

/** Accepts a method and a path below `base-url`. */
export const parseRequest: Parse<Pick<Change, 'method' | 'path'>> = (text) => {
  if (text === '') throw new BadValue(`is empty; expected ${example}`);
  const [, method, path] = /^(POST|PUT|PATCH|DELETE) \/(.*)$/s.exec(text) ?? [];
  if (method === undefined || path === undefined)
    throw new BadValue(`is not a request; expected POST, PUT, PATCH or DELETE, and ${example}`);
  // A URL parser drops tabs and line breaks, and reads `\` as `/`.
  if (/[^\x21-\x7e]|[\\#]/.test(path))
    throw new BadValue('has a space, “\\”, “#” or a character that is not ASCII; expected these percent-encoded');
  for (const segment of (path.split('?')[0] ?? '').split('/')) {
    const problem = segmentProblem(segment);
    if (problem !== undefined) throw new BadValue(problem);
  }
  return { method: method as Change['method'], path };
};

/** A query can hold a secret. */
const withoutQuery = (text: string) => text.replace(/\?.*/s, '?…');

const example = 'a path below base-url, such as “POST /projects/<id>/branches”';

function segmentProblem(segment: string): string | undefined {
  if (segment === '')
    return 'has an empty part between two “/” or at its end. An expression is empty if the name of a step, an output or a variable is misspelled';
  let text = segment;
  // A service may decode a path more than once.
  for (let before = ''; text !== before; ) {
    before = text;
    try {
      text = decodeURIComponent(text);
    } catch {
      return 'has a “%” that begins no character; expected “%25” in its place';
    }
    const parts = text.split(/[/\\]/);
    if (parts.some((part) => /^\.\.?(;|$)/.test(part))) return 'has a part “.” or “..”; expected the whole path';
    if (parts.some((part) => /^\s*api_keys\b/i.test(part)))
      return 'is about API keys; expected another path. Keys have modes of their own: create-key, list-keys, revoke-key';
  }
  const leftover = leftoverProblem(text);
  return leftover && `has a part that ${leftover}`;
}

/** No error quotes a body, because it can hold a secret. */
const parseBody: Parse<string> = (text) => {
  const body = parseJsonOrUndefined(text);
  if (body === undefined) throw new BadValue('is not JSON; expected a JSON text', true);
  if (body === null)
    throw new BadValue('is null, as a failed jq command or expression gives it; expected a JSON object', true);
  return text;
};
