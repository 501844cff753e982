import { decodings } from '../../kit/secrets-shown.js';
import { githubToken } from '../plan.js';
import type { Message, ProcessRecord, Run, StepRecord } from '../record.js';

/**
 * No secret stands in the log, the outputs, the summary, the state or the result file, except the minted key in the places
 * that hand it over, and after its mask. No key is sent to another origin, and no step sends the key of another.
 */
export function* noSecretLeaves(step: StepRecord, { stage }: Run): Generator<string> {
  const secrets = [...stage.keys().map(({ key }) => key), githubToken];
  const own = step.keys.map(({ key }) => key);
  for (const process of step.processes) {
    yield* leaks(process, secrets, own);
    yield* unmasked(process, own);
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

function* unmasked({ messages }: ProcessRecord, own: readonly string[]) {
  for (const secret of own) {
    const shown = messages.findIndex(({ kind, text }) => kind !== 'mask' && text.includes(secret));
    const masked = messages.findIndex(({ kind, text }) => kind === 'mask' && text === secret);
    if (shown >= 0 && (masked < 0 || masked > shown)) yield `a minted key in ${messages[shown]?.kind} before its mask`;
  }
}

function* misdirected({ part, sent }: ProcessRecord, { parent }: StepRecord, own: readonly string[], service: string) {
  for (const { authorization, origin, path } of sent) {
    const isMinted = part === 'post' && own.includes(authorization.replace(/^Bearer /, ''));
    if (origin !== service) yield `a request went to ${origin}`;
    else if (authorization !== parent && !isMinted) yield `the key of another step was sent with ${path}`;
  }
}
