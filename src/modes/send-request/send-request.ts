import { unescape as decodePath } from 'node:querystring';
import { UnexpectedShapeError } from '../../api/parse-response.js';
import { type Operation, operationsNamedIn, parseOperation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import { idText, isAbsent, isObject, type Json, type JsonObject, parseJsonOrUndefined } from '../../text/json.js';
import type { Collaborators, Services } from '../mode.js';
import { waitOperation } from '../wait-operation/wait-operation.js';
import type { SendRequestSettings } from './settings.js';

const nameOfSecret = /password|secret|token|key|uri/i;

/** Sends the request, and waits for the operations that its response names. */
export async function sendRequest(settings: SendRequestSettings, collaborators: Collaborators, services: Services) {
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
      // A proxy that requires a login passes nothing on.
      const isRefused = error.isThrottled || error.isServiceStatus(409) || error.status === 407;
      mayBeDone = error.mayHaveTakenEffect && !isRefused;
      const isUnsent = error.status === undefined && !mayBeDone && error.transient;
      const transient = (error.isThrottled || isUnsent) && 'until-deadline';
      throw new RequestError(error.message, { ...error, transient, cause: error });
    }
  }

  const query = new URLSearchParams(request.path.split('?')[1]);
  maskSecrets([...query].map(([name, value]) => ({ [name]: value })));
  maskSecrets(parseJsonOrUndefined(body ?? ''));
  try {
    const ids = await withRetries(collaborators)(attempt);
    const waitSettings = { ...settings, projectIds: [...ids.keys()], target: { ids } };
    return { wait: await waitOperation(waitSettings, collaborators), waitSettings, response };
  } catch (failure) {
    return { failure, mayBeDone, projectId, response };
  }
}

/** All strings in or below fields whose name says that they hold a secret. */
function secretsIn(body: Json): string[] {
  const found = new Set<string>();
  // A body can be nested more deeply than functions can. The loop goes on to what it adds.
  const values: [value: Json, isSecret: boolean][] = [[body, false]];
  for (const [value, isSecret] of values) {
    if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) values.push([item, isSecret || nameOfSecret.test(name)]);
    else if (isSecret && typeof value === 'string') found.add(value);
  }
  return [...found];
}

/** The operations of a response by their project: that of the record, else of the path. */
function operationsIn(body: JsonObject, projectOfPath: string | undefined): Map<string, Operation[]> {
  const named = operationsNamedIn(body);
  if (named === undefined) throw new UnexpectedShapeError('`operations` is no array');
  const found = new Map<string, Operation[]>();
  for (const { place, record } of named) {
    const { project_id } = isObject(record) ? record : {};
    const projectId = isAbsent(project_id) ? projectOfPath : idText(project_id);
    if (projectId === undefined || /^\.\.?$|[/\p{Cc}\p{Cs}]/u.test(projectId))
      throw new UnexpectedShapeError(`\`${place}.project_id\` is not a project id`);
    found.set(projectId, [...(found.get(projectId) ?? []), parseOperation(record, place, projectId)]);
  }
  return found;
}
