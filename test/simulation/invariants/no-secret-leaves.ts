import { githubToken } from '../plan.js';
import {
  type Message,
  ownProcessesOf,
  type ProcessRecord,
  parentOf,
  processesOf,
  type Run,
  type StepRecord,
} from '../record.js';
import { keysOf } from '../truth.js';

interface Secret {
  readonly value: string;
  readonly parts: readonly string[];
}

/**
 * No secret stands in the log, the outputs, the summary or the state, except the minted key in the places that hand it over,
 * and after its mask. No key is sent to another origin, and no step sends the key of another.
 */
export function noSecretLeaves(run: Run): string[] {
  const secrets = [...run.stage.keys().map(({ key }) => key), githubToken].map((value) => ({
    value,
    parts: partsOf(value),
  }));
  return run.steps.flatMap((step) => {
    const own = new Set(keysOf(run, step).map(({ key }) => key));
    return processesOf(step).flatMap((process) => [
      ...leaks(process, secrets, own),
      ...unmasked(process, own, run.stage.plane.apiKey),
      ...(ownProcessesOf(step).includes(process) ? misdirected(process, step, own, run.stage.origin) : []),
    ]);
  });
}

/** Pieces that no other text contains. Of an encoding from its middle, because its ends depend on the neighbouring text. */
function partsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  ];
  return [
    ...new Set(forms.flatMap((form) => [form.slice(0, 20), form.slice(-20)])),
    ...(secret.length > 44 ? [secret.slice(22, 42)] : []),
    bytes.toString('base64').slice(4, 40),
    bytes.toString('hex').slice(0, 40),
    Buffer.from(`Bearer ${secret}`).toString('base64').slice(12, 48),
  ];
}

function leaks(
  { messages, resultFile }: ProcessRecord,
  secrets: readonly Secret[],
  own: ReadonlySet<string>,
): string[] {
  const texts = messages
    .filter(({ kind }) => kind !== 'mask')
    .map((message) => ({ place: `${message.kind} ${message.name}`, text: withoutAllowed(message, own) }));
  if (resultFile !== undefined) texts.push({ place: 'result file', text: resultFile });
  const all = texts.map(({ text }) => text).join('\n');
  return secrets.flatMap(({ value, parts }) =>
    parts.some((part) => all.includes(part))
      ? texts
          .filter(({ text }) => parts.some((part) => text.includes(part)))
          .map(({ place }) => `secret ${value.slice(0, 6)}… in ${place}`)
      : [],
  );
}

/** The places that hand the minted key over may contain it, whole. */
function withoutAllowed({ kind, name, text }: Message, own: ReadonlySet<string>): string {
  const isAllowed = kind === 'state' || kind === 'variable' || (kind === 'output' && name === 'key');
  return isAllowed ? [...own].reduce((rest, secret) => rest.replaceAll(secret, ''), text) : text;
}

function unmasked({ messages, part }: ProcessRecord, own: ReadonlySet<string>, parent: string): string[] {
  const problems = [...own].flatMap((secret) => {
    const shown = messages.findIndex(({ kind, text }) => kind !== 'mask' && text.includes(secret));
    const masked = messages.findIndex(({ kind, text }) => kind === 'mask' && text === secret);
    const isLate = shown >= 0 && (masked < 0 || masked > shown);
    return isLate ? [`a minted key in ${messages[shown]?.kind} before its mask`] : [];
  });
  const [first] = messages;
  const isMasked = part === 'post' || first === undefined || (first.kind === 'mask' && first.text === parent);
  return isMasked ? problems : [...problems, 'a message before the mask of the parent key'];
}

function misdirected(
  { part, sent }: ProcessRecord,
  step: StepRecord,
  own: ReadonlySet<string>,
  ownOrigin: string,
): string[] {
  const parent = parentOf(step);
  return sent.flatMap(({ authorization, origin, path, endpoint }) => {
    if (origin !== ownOrigin) return [`a request went to ${origin}`];
    if (endpoint === 'other') return [`a request went to ${path}`];
    const isMinted =
      part === 'post' && step.plan.mode === 'create-key' && own.has(authorization.replace(/^Bearer /, ''));
    return authorization === parent || isMinted ? [] : [`the key of another step was sent with ${path}`];
  });
}
