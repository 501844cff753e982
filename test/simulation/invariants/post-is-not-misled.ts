import { sealOf } from '../formats.js';
import type { Run, StepRecord } from '../record.js';

/**
 * Main saves a sealed state before any request or message but masks, so post reads none that another step forges. If main was
 * killed before that, a forged state can only send its own key, to an address that main would accept.
 */
export function* postIsNotMisled(step: StepRecord, { stage }: Run): Generator<string> {
  const { main, state, plan } = step;
  const parent = stage.plane.apiKey;
  const first = main.messages.find(({ kind }) => kind !== 'mask');
  if (first?.kind !== 'state' && main.sent.length > 0) yield 'a request was sent before a state was saved';
  else if (first !== undefined && first.kind !== 'state' && !main.runnerFailed)
    yield `${first.kind} came before a state was saved`;

  const at = state.indexOf('{');
  const run = `${plan.environment['GITHUB_RUN_ID']}/${plan.environment['GITHUB_RUN_ATTEMPT']}`;
  if (at >= 0 && state.slice(0, at) !== sealOf(state.slice(at), parent, run)) yield 'the state has no valid seal';
  yield* misled(step, parent);
}

function* misled({ forgery, post }: StepRecord, parent: string) {
  if (forgery === undefined || post === undefined) return;
  const { secret, mayBeSentTo } = forgery;
  for (const { authorization, origin, path } of post.sent) {
    const isOwnKey = secret !== undefined && authorization === `Bearer ${secret}`;
    if (isOwnKey && origin === mayBeSentTo && /^\/v2\/+api_keys(\/\d+)?$/.test(path)) continue;
    yield `a forged state sent ${authorization.includes(parent) ? 'the parent key' : 'a key'} to ${origin}${path}`;
  }
  // It may be the secret of another step.
  if (post.messages.some(({ kind, text }) => kind === 'mask' && text === parent))
    yield 'post masked the parent key because of a forged state';
}
