import type { StepReport } from '../action/step-report.js';
import type { PostState } from '../keys/post-state.js';
import type { Revocation } from '../keys/revocation.js';
import { errorMessage, joinFirst, sentences } from '../text/sentences.js';
import { DeadlineExceeded } from '../time/deadline.js';

const consequence = 'A key has full access to the account until it is revoked.';

/** `doubt`: why the minted key may still be valid. */
export function postReport(
  state: PostState,
  doubt: string | undefined,
  strays: readonly Revocation[],
  hasParentKey: boolean,
): StepReport {
  const { name, lostCreates } = state;
  const open = strays.filter(({ fate }) => fate === 'unknown');
  const [why] = open.map(({ failure }) =>
    failure instanceof DeadlineExceeded ? 'lists do not confirm it' : errorMessage(failure),
  );
  const alarms = sentences(
    doubt !== undefined && alarm(mintedIds(state), name, doubt),
    why !== undefined && alarm(idsOf(open), name, why),
  );
  const reason = hasParentKey
    ? 'the service may still carry it out'
    : 'the post step does not have the API key of the main step to look for it';
  const lost = `A create of a key named ${name} had no usable response, and ${reason}. Look for this name in the console, or with mode: list-keys and filter: name=${name}, and revoke the key by its id. ${consequence}`;
  const gone = [...mintedIds(state), ...idsOf(strays)];
  const what = gone.length === 0 ? `Found no key named ${name}` : `Revoked ${gone.join(', ')} (${name})`;
  const report = alarms === '' ? { status: 'ok', succeeded: true, headline: what } : keyMayLive(alarms, state);
  const missing = lostCreates - strays.length;
  return { ...report, warnings: [...(report.warnings ?? []), ...(missing > 0 ? [lost] : [])] };
}

/** The state of a key that is kept on purpose has no secret. */
const mintedIds = ({ minted }: PostState) => (minted?.secret ? [minted.id] : []);
const idsOf = (keys: readonly Revocation[]) => keys.map(({ id }) => id);

export function crashReport(error: unknown, state: PostState | undefined, runId = ''): StepReport {
  const why = errorMessage(error);
  const unknown = `Could not look for the key of this step: ${why}. Look in the console for a key whose name contains the id of this run (${runId}), and revoke it. ${consequence}`;
  return keyMayLive(state === undefined ? unknown : alarm(mintedIds(state), state.name, why), state);
}

function alarm(ids: readonly string[], name: string, why: string): string {
  const [key, input] =
    ids.length === 0 ? ['the key', `key-name: ${name}`] : [`key ${joinFirst(ids)}`, `key-id: ${joinFirst(ids)}`];
  return `Could not prove that ${key} (${name}) is revoked: ${why}. Revoke it in the console, or with mode: revoke-key and ${input}. ${consequence}`;
}

function keyMayLive(message: string, state: PostState | undefined): StepReport {
  const report = { status: 'error', headline: 'A key may still be valid' };
  return state?.onFailure === 'fail'
    ? { ...report, succeeded: false, error: message }
    : { ...report, succeeded: true, warnings: [message] };
}
