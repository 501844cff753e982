import { unescape as decodePath } from 'node:querystring';
import { explain, failureReport } from '../action/failure-report.js';
import type { InputReader } from '../action/inputs/input-reader.js';
import { BadValue, type Parse, quote, readInputFile, rejectLeftover, whyEmpty } from '../action/inputs/input-values.js';
import { paragraph } from '../action/markdown.js';
import type { StepReport } from '../action/step-report.js';
import type { Call } from '../api/control-api.js';
import { UnexpectedShapeError } from '../api/parse-response.js';
import { isNoPathPart, type Operation, operationsNamedIn, parseOperation } from '../api/records.js';
import { RequestError } from '../http/errors.js';
import { type Attempt, withRetries } from '../http/retry.js';
import { idText, isAbsent, isObject, type Json, type JsonObject, parseJsonOrUndefined } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { sentences } from '../text/sentences.js';
import { DeadlineExceeded } from '../time/deadline.js';
import { type Collaborators, define, type ReportFacts, type Services } from './mode.js';
import { waitReport } from './wait-operation/report.js';
import { readWaitInputs } from './wait-operation/settings.js';
import { waitOperation } from './wait-operation/wait-operation.js';

type Settings = ReturnType<typeof read>;
type Result = Awaited<ReturnType<typeof run>>;

function read(reader: InputReader) {
  reader.rejectNodeDebug();
  const folder = reader.environment['GITHUB_WORKSPACE'] ?? '';
  return reader.complete({
    request: reader.parse('request', parseRequest),
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

function pathProblem(path: string): string | undefined {
  // A URL parser drops tabs and line breaks, and reads `\` as `/`.
  if (/[^!-~]|[\\#]/.test(path)) return 'has a space, a “#” or another character that must be percent-encoded';
  // A proxy and the service may each decode it. Some servers ignore what follows a `;`.
  const decoded = decodePath(path.split('?')[0] ?? '');
  const parts = `${decoded}/${decodePath(decoded)}`.toLowerCase().split(/[/\\;]/);
  const has = (...names: string[]) => names.some((name) => parts.includes(name));
  if (has('', 'null', 'undefined')) return `has an empty part, or a part “null” or “undefined”. ${whyEmpty}`;
  if (has('.', '..')) return 'has a part “.” or “..”; expected the whole path';
  if (has('api_keys')) return 'is about API keys. They have modes of their own: create-key, list-keys, revoke-key';
  return undefined;
}

/** No error quotes a body, because it can hold a secret. */
const parseBody: Parse<string> = (text) => {
  const body = parseJsonOrUndefined(text);
  if (isAbsent(body)) throw new BadValue(`is ${body === null ? 'null' : 'not JSON'}; expected a JSON text`, true);
  return text;
};

/** Sends the request, and waits for the operations that its response names. */
async function run(settings: Settings, collaborators: Collaborators, services: Services) {
  const { request, body } = settings;
  const [, pathId] = /^projects\/([^/?]+)/.exec(request.path) ?? [];
  const projectId = pathId && decodePath(pathId);
  /** Until its response says otherwise, a request that was sent may have been carried out. */
  let mayBeDone = false;
  let response: string | undefined;

  const maskSecrets = (value: Json = null) => services.mask(secretsIn(value));
  async function attempt(how: Attempt) {
    const onSend = () => {
      mayBeDone = true;
    };
    const onBody = (text: string) => {
      response = text;
      maskSecrets(parseJsonOrUndefined(text));
    };
    const decode = (answer: JsonObject) => operationsIn(answer, projectId);
    try {
      return await collaborators.api.change({ ...request, body }, { ...how, onSend, onBody }, decode);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      mayBeDone = error.mayHaveTakenEffect && !error.isServiceStatus(409);
      const isUnsent = error.status === undefined && !mayBeDone && error.transient;
      const transient = (error.isThrottled || isUnsent) && 'until-deadline';
      throw new RequestError(error.message, { ...error, transient, cause: error });
    }
  }

  const query = request.path.split('?')[1]?.split('&') ?? [];
  // The service may decode a value, also as a form, or not.
  for (const text of query.flatMap((pair) => [pair, decodePath(pair), decodePath(pair.replaceAll('+', ' '))])) {
    const [name = '', value = ''] = text.split(/=(.*)/s);
    maskSecrets({ [name]: value });
  }
  maskSecrets(parseJsonOrUndefined(body ?? ''));
  try {
    const ids = await withRetries(collaborators)(attempt);
    const waitSettings = { ...settings, projectIds: [...ids.keys()], target: { ids } };
    return { wait: await waitOperation(waitSettings, collaborators), waitSettings, response };
  } catch (failure) {
    return { failure, mayBeDone, projectId, response };
  }
}

const nameOfSecret = /password|secret|token|key|uri/i;

/** All strings in or below fields whose name says that they hold a secret. */
function secretsIn(body: Json): string[] {
  const found: string[] = [];
  // Recursion could overflow the stack. The loop also visits what it adds.
  const values: [value: Json, isSecret: boolean][] = [[body, false]];
  for (const [value, isSecret] of values) {
    if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) values.push([item, isSecret || nameOfSecret.test(name)]);
    else if (isSecret && typeof value === 'string') found.push(value);
  }
  return found;
}

/** The operations of a response by their project: that of the record, else of the path. */
function operationsIn(body: JsonObject, projectOfPath: string | undefined): Map<string, Operation[]> {
  const named = operationsNamedIn(body);
  if (named === undefined) throw new UnexpectedShapeError('`operations` is no array');
  const found = new Map<string, Operation[]>();
  for (const { place, record } of named) {
    const { project_id } = isObject(record) ? record : {};
    const projectId = isAbsent(project_id) ? projectOfPath : idText(project_id);
    if (projectId === undefined || isNoPathPart(projectId))
      throw new UnexpectedShapeError(`\`${place}.project_id\` cannot be used in a path`);
    found.set(projectId, [...(found.get(projectId) ?? []), parseOperation(record, place, projectId)]);
  }
  return found;
}

function report(result: Result, { request }: Settings, facts: ReportFacts): StepReport {
  const { response } = result;
  const what = `${request.method} /${sanitizeLine(request.path.split('?')[0] ?? '', 120)}`;
  if (result.wait !== undefined) {
    const waited = waitReport(result.wait, result.waitSettings, facts);
    return { ...waited, details: paragraph(what) + waited.details, response };
  }
  const { failure, mayBeDone, projectId } = result;
  const failed = failureReport(failure, facts.timeout);
  // A throttled request ends the step only if its `Retry-After` exceeds the deadline.
  const isLate = failure instanceof DeadlineExceeded || (failure instanceof RequestError && failure.isThrottled);
  const usual = { ...failed, status: isLate ? 'timeout' : failed.status, response };
  if (!mayBeDone) return usual;
  const project = projectId === undefined ? 'and the project-id' : `project-id: ${sanitizeId(projectId)}`;
  const doubt = sentences(
    `${what} may have been carried out, so the step does not send it again`,
    `To wait for what it may have started, run a step with mode: wait-operation, operation-id: all, ${project}`,
  );
  // The usual advice would be to run the job again.
  if (usual.error !== undefined) return { ...usual, error: sentences(explain(failure, facts.timeout).what, doubt) };
  return { ...usual, headline: 'Cancelled; the request may have been carried out', details: paragraph(doubt) };
}

export const sendRequestMode = define({ read, run, report, concludesItself: true });
