import { sealOf } from '../formats.js';
import { forgeryIn, type Run, type StepRecord } from '../record.js';

/**
 * Main saves a sealed state before any request or message but masks, so post reads none that another step forges. If main was
 * killed before that, a forged state can only send its own key, to an address that main would accept.
 */
export function postIsNotMisled({ steps, stage }: Run): string[] {
  return steps.flatMap((step) => [
    ...unsaved(step),
    ...unsealed(step, stage.plane.apiKey),
    ...misled(step, stage.plane.apiKey),
  ]);
}

function unsaved({ main }: StepRecord): string[] {
  const first = main.messages.find(({ kind }) => kind !== 'mask');
  if (first?.kind === 'state') return [];
  if (main.sent.length > 0) return ['a request was sent before a state was saved'];
  return first === undefined || main.runnerFailed ? [] : [`${first.kind} came before a state was saved`];
}

function unsealed({ state, plan: { environment } }: StepRecord, parent: string): string[] {
  const at = state.indexOf('{');
  const run = `${environment['GITHUB_RUN_ID']}/${environment['GITHUB_RUN_ATTEMPT']}`;
  return at < 0 || state.slice(0, at) === sealOf(state.slice(at), parent, run) ? [] : ['the state has no valid seal'];
}

function misled(step: StepRecord, parent: string): string[] {
  const forgery = forgeryIn(step);
  if (forgery === undefined || step.post === undefined) return [];
  const { secret, mayBeSentTo } = forgery;
  const wrong = step.post.sent.filter(
    ({ authorization, origin, path }) =>
      secret === undefined ||
      authorization !== `Bearer ${secret}` ||
      origin !== mayBeSentTo ||
      !/^\/v2\/+api_keys(\/\d+)?$/.test(path),
  );
  const isMasked = step.post.messages.some(({ kind, text }) => kind === 'mask' && text === parent);
  return [
    ...wrong.map(({ origin, path, authorization }) => {
      const key = authorization.includes(parent) ? 'the parent key' : 'a key';
      return `a forged state sent ${key} to ${origin}${path}`;
    }),
    // It may be the secret of another step.
    ...(isMasked ? ['post masked the parent key because of a forged state'] : []),
  ];
}
