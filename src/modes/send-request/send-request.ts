import { UnexpectedShapeError } from '../../api/parse-response.js';
import { parseOperation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import { isAbsent, isObject, type Json, parseJsonOrUndefined, toText } from '../../text/json.js';
import type { Collaborators, Services } from '../mode.js';
import type { WaitSettings } from '../wait-operation/settings.js';
import { waitOperation } from '../wait-operation/wait-operation.js';
import { secretsIn } from './secrets-in.js';
import type { SendRequestSettings } from './settings.js';

export type SendRequestResult = Awaited<ReturnType<typeof sendRequest>>;

/** Sends the request, and waits for the operations that its response names. */
export async function sendRequest(settings: SendRequestSettings, collaborators: Collaborators, services: Services) {
  const { request, body } = settings;
  const projectId = projectIn(request.path);
  /** Until its response says otherwise, a request that was sent may have been carried out. */
  let mayBeDone = false;

  const maskSecrets = (text = '') => {
    for (const secret of secretsIn(parseJsonOrUndefined(text) ?? null)) services.mask(secret);
  };

  async function attempt(how: Attempt) {
    const onSend = () => {
      mayBeDone = true;
    };
    const decode = (response: Json) => operationsIn(response, projectId);
    try {
      return await collaborators.api.change({ ...request, body }, { ...how, onSend }, maskSecrets, decode);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const isRefused = error.isThrottled || error.isServiceStatus(409);
      mayBeDone = error.mayHaveTakenEffect && !isRefused;
      const isUnsent = error.status === undefined && !mayBeDone && error.transient;
      const repeat = { transient: error.isThrottled || isUnsent, isUntilDeadline: isUnsent };
      throw new RequestError(error.message, { ...error, ...repeat }, { cause: error });
    }
  }

  maskSecrets(body);
  maskSecrets(JSON.stringify(Object.fromEntries(new URLSearchParams(request.path.split('?')[1]))));
  try {
    const { text, decoded: ids } = await withRetries(collaborators)(attempt);
    const waitSettings: WaitSettings = { ...settings, projectIds: [...ids.keys()], target: { ids }, pollsOnce: false };
    const wait = await waitOperation(waitSettings, collaborators);
    return { done: { response: text, waitSettings, wait } };
  } catch (failure) {
    return { done: undefined, failure, mayBeDone, projectId };
  }
}

/** The ids of the operations that a response names, by their project: that of the record, else of the path. */
function operationsIn(body: Json, projectOfPath: string | undefined): Map<string, string[]> {
  const { operations, operation } = isObject(body) ? body : {};
  if (!isAbsent(operations) && !Array.isArray(operations)) throw new UnexpectedShapeError('`operations` is no array');
  const ids = new Map<string, string[]>();
  const add = (record: Json, place: string) => {
    const { project_id } = isObject(record) ? record : {};
    const projectId = isAbsent(project_id) ? projectOfPath : toText(project_id);
    if (!projectId) throw new UnexpectedShapeError(`\`${place}.project_id\` is missing`);
    const { id } = parseOperation(record, place, projectId);
    const others = ids.get(projectId) ?? [];
    others.push(id);
    ids.set(projectId, others);
  };
  for (const [n, record] of (operations ?? []).entries()) add(record, `operations[${n}]`);
  if (!isAbsent(operation)) add(operation, 'operation');
  return ids;
}

function projectIn(path: string): string | undefined {
  const [, id] = /^projects\/([^/?]+)/.exec(path) ?? [];
  return id && decodeURIComponent(id);
}
