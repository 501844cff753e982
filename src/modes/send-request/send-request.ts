import { UnexpectedShapeError } from '../../api/parse-response.js';
import { type Operation, operationsNamedIn, parseOperation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import { idText, isAbsent, isObject, type Json, parseJsonOrUndefined } from '../../text/json.js';
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

  let response = '';

  const maskSecrets = (text = '') => services.mask(secretsIn(parseJsonOrUndefined(text) ?? null));
  const onBody = (text: string) => {
    response = text;
    maskSecrets(text);
  };

  async function attempt(how: Attempt) {
    const onSend = () => {
      mayBeDone = true;
    };
    const decode = (answer: Json) => operationsIn(answer, projectId);
    try {
      return await collaborators.api.change({ ...request, body }, { ...how, onSend }, onBody, decode);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // A proxy that requires a login passes nothing on.
      const isRefused = error.isThrottled || error.isServiceStatus(409) || error.status === 407;
      mayBeDone = error.mayHaveTakenEffect && !isRefused;
      const isUnsent = error.status === undefined && !mayBeDone && error.transient;
      const repeat = { transient: error.isThrottled || isUnsent, isUntilDeadline: isUnsent };
      throw new RequestError(error.message, { ...error, ...repeat }, { cause: error });
    }
  }

  maskSecrets(body);
  maskSecrets(JSON.stringify(Object.fromEntries(new URLSearchParams(request.path.split('?')[1]))));
  try {
    const seen = await withRetries(collaborators)(attempt);
    const projectIds = [...seen.keys()];
    const waitSettings: WaitSettings = { ...settings, projectIds, target: { ids: seen } };
    const wait = await waitOperation(waitSettings, collaborators);
    return { done: { response, waitSettings, wait } };
  } catch (failure) {
    const isSuccess = failure instanceof RequestError && (failure.status ?? 500) < 300;
    return { done: undefined, failure, mayBeDone, projectId, response: isSuccess ? response : undefined };
  }
}

/** The operations of a response by their project: that of the record, else of the path. */
function operationsIn(body: Json, projectOfPath: string | undefined): Map<string, Operation[]> {
  const named = operationsNamedIn(isObject(body) ? body : {});
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

function projectIn(path: string): string | undefined {
  const [, id] = /^projects\/([^/?]+)/.exec(path) ?? [];
  return id && decodeURIComponent(id);
}
