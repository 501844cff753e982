import { createHmac } from 'node:crypto';
import { decodings } from '../../kit/secrets-shown.js';
import { githubToken } from '../plan.js';
import type { Message, ProcessRecord, Run, StepRecord } from '../record.js';

/**
 * No secret stands in the log, the outputs, the summary or the state, except the minted key in the places that hand it over,
 * and after its mask. No key is sent to another origin, and no step sends the key of another: post cannot be misled.
 */
export function* noSecretLeaves(step: StepRecord, { stage }: Run): Generator<string> {
  const secrets = [...stage.keys().map(({ key }) => key), githubToken];
  const own = step.keys.map(({ key }) => key);
  yield* misled(step, stage.plane.apiKey);
  for (const process of step.processes) {
    yield* leaks(process, secrets, own);
    yield* unmasked(process, own, stage.plane.apiKey);
    yield* misdirected(process, step, own, stage.origin);
  }
}

/** Pieces that no other text contains. Of an encoding from its middle, because its ends depend on the neighbouring text. */
function partsOf(secret: string): string[] {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  return [
    ...[secret.slice(0, 20), secret.slice(22, 42), secret.slice(-20)].filter(({ length }) => length === 20),
    encoded(secret).slice(4, 40),
    Buffer.from(secret).toString('hex').slice(0, 40),
    encoded(`Bearer ${secret}`).slice(12, 48),
  ];
}

function* leaks({ messages, resultFile = '' }: ProcessRecord, secrets: readonly string[], own: readonly string[]) {
  const said = messages.filter(({ kind }) => kind !== 'mask');
  const texts = said.map((one): [string, string] => [`${one.kind} ${one.name}`, withoutAllowed(one, own)]);
  texts.push(['result file', resultFile]);
  const decoded = texts.map(([place, text]) => [place, decodings(text).join('\n')] as const);
  const all = decoded.map(([, text]) => text).join('\n');
  for (const secret of secrets) {
    const parts = partsOf(secret).filter((part) => all.includes(part));
    for (const [place, text] of decoded)
      if (parts.some((part) => text.includes(part))) yield `secret ${secret.slice(0, 6)}… in ${place}`;
  }
}

/** The places that hand the minted key over may contain it, whole. */
function withoutAllowed({ kind, name, text }: Message, own: readonly string[]): string {
  const isAllowed = kind === 'state' || (kind === 'output' && name === 'key');
  return isAllowed ? own.reduce((rest, secret) => rest.replaceAll(secret, ''), text) : text;
}

function* unmasked({ messages, part }: ProcessRecord, own: readonly string[], parent: string) {
  for (const secret of own) {
    const shown = messages.findIndex(({ kind, text }) => kind !== 'mask' && text.includes(secret));
    const masked = messages.findIndex(({ kind, text }) => kind === 'mask' && text === secret);
    if (shown >= 0 && (masked < 0 || masked > shown)) yield `a minted key in ${messages[shown]?.kind} before its mask`;
  }
  const [first] = messages;
  if (part === 'main' && first !== undefined && !(first.kind === 'mask' && first.text === parent))
    yield 'a message before the mask of the parent key';
}

function* misdirected({ part, sent }: ProcessRecord, { parent }: StepRecord, own: readonly string[], service: string) {
  for (const { authorization, origin, path, endpoint } of sent) {
    const isMinted = part === 'post' && own.includes(authorization.replace(/^Bearer /, ''));
    if (origin !== service) yield `a request went to ${origin}`;
    else if (endpoint === 'other') yield `a request went to ${path}`;
    else if (authorization !== parent && !isMinted) yield `the key of another step was sent with ${path}`;
  }
}

/** Main saves a sealed state before any request or message but masks, so post reads none that another step forges. */
function* misled({ main, state, plan }: StepRecord, parent: string) {
  const first = main.messages.find(({ kind }) => kind !== 'mask');
  if (first?.kind !== 'state' && main.sent.length > 0) yield 'a request was sent before a state was saved';
  else if (first !== undefined && first.kind !== 'state' && !main.runnerFailed)
    yield `${first.kind} came before a state was saved`;

  const at = state.indexOf('{');
  const { GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt } = plan.environment;
  const sealed = JSON.stringify([run, attempt, state.slice(at)]);
  const seal = createHmac('sha256', parent).update(sealed).digest('hex');
  if (at >= 0 && state.slice(0, at) !== seal) yield 'the state has no valid seal';
}
