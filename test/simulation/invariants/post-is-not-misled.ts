import { createHmac } from 'node:crypto';
import type { Run, StepRecord } from '../record.js';

/** Main saves a sealed state before any request or message but masks, so post reads none that another step forges. */
export function* postIsNotMisled({ main, state, plan }: StepRecord, { stage }: Run): Generator<string> {
  const parent = stage.plane.apiKey;
  const first = main.messages.find(({ kind }) => kind !== 'mask');
  if (first?.kind !== 'state' && main.sent.length > 0) yield 'a request was sent before a state was saved';
  else if (first !== undefined && first.kind !== 'state' && !main.runnerFailed)
    yield `${first.kind} came before a state was saved`;

  const at = state.indexOf('{');
  const run = `${plan.environment['GITHUB_RUN_ID']}/${plan.environment['GITHUB_RUN_ATTEMPT']}`;
  const sealed = JSON.stringify([run, state.slice(at)]);
  const seal = createHmac('sha256', parent).update(sealed).digest('hex');
  if (at >= 0 && state.slice(0, at) !== seal) yield 'the state has no valid seal';
}
