import type { Changed } from '../../api/control-api.js';
import { UnexpectedShapeError } from '../../api/parse-response.js';
import { type Operation, parseOperation } from '../../api/records.js';
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
  const { api, log } = collaborators;
  const projectId = projectIn(request.path);
  /** Until its response says otherwise, a request that was sent may have been carried out. */
  let mayBeDone = false;

  const maskSecrets = (text = '') => {
    for (const secret of secretsIn(parseJsonOrUndefined(text) ?? null)) services.mask(secret);
  };

  async function attempt(how: Attempt): Promise<Changed<Started[]>> {
    const onSend = () => {
      mayBeDone = true;
    };
    try {
      const decode = (body: Json) => operationsIn(body, projectId);
      return await api.change({ ...request, body }, { ...how, onSend }, { onBody: maskSecrets, decode });
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
    const { status, text, decoded: started } = await withRetries(collaborators)(attempt);
    log.info(`The service answered with status ${status}.`);
    const waitSettings = waitFor(started, settings);
    const wait = await waitOperation(waitSettings, collaborators);
    return { done: { response: text, waitSettings, wait } };
  } catch (failure) {
    return { done: undefined, failure, mayBeDone, projectId };
  }
}

interface Started {
  readonly projectId: string;
  readonly operation: Operation;
}

/** The operations that a response says were started, each with its project: of the record, else of the path. */
function operationsIn(body: Json, projectOfPath: string | undefined): Started[] {
  const { operations, operation } = isObject(body) ? body : {};
  if (!isAbsent(operations) && !Array.isArray(operations)) throw new UnexpectedShapeError('`operations` is no array');
  const records = (operations ?? []).map((record, n) => ({ place: `operations[${n}]`, record }));
  if (!isAbsent(operation)) records.push({ place: 'operation', record: operation });
  return records.map(({ place, record }) => {
    const { project_id } = isObject(record) ? record : {};
    const projectId = isAbsent(project_id) ? projectOfPath : toText(project_id);
    if (!projectId) throw new UnexpectedShapeError(`\`${place}.project_id\` is missing`);
    return { projectId, operation: parseOperation(record, place, projectId) };
  });
}

function projectIn(path: string): string | undefined {
  const [, id] = /^projects\/([^/?]+)/.exec(path) ?? [];
  return id && decodeURIComponent(id);
}

function waitFor(
  started: readonly Started[],
  { pollInterval, failFast, failOnEmpty }: SendRequestSettings,
): WaitSettings {
  const projectIds = [...new Set(started.map(({ projectId }) => projectId))];
  const idsIn = (wanted: string) =>
    started.flatMap(({ projectId, operation }) => (projectId === wanted ? operation.id : []));
  const ids = new Map(projectIds.map((id) => [id, [...new Set(idsIn(id))]]));
  const target = { ids };
  return { projectIds, target, failOnEmpty, pollInterval, failFast, pollsOnce: false };
}
