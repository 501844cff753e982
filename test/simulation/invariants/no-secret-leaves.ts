import { githubToken } from '../draw/keys.js';
import { ownProcessesOf, type ProcessRecord, processesOf, type Run, type StepRecord, type Word } from '../record.js';
import { origin } from '../stage.js';
import { keysOf } from '../truth.js';

/**
 * No secret in any text that leaves: log, outputs other than `key`, summary, errors, state other than the minted key; and none
 * sent to where it does not belong (another origin; another step's key). Nothing holding the minted key is printed before it
 * is masked.
 */
export function noSecretLeaves(run: Run): string[] {
  const needles = [...run.stage.keys().map(({ key }) => key), githubToken].map((secret) => ({
    secret,
    parts: [
      secret.slice(0, 20),
      secret.slice(-20),
      ...(secret.length > 44 ? [secret.slice(22, 42)] : []),
      ...encoded(secret),
    ],
  }));
  return run.steps.flatMap((step) => {
    const own = new Set(keysOf(run, step).map(({ key }) => key));
    return processesOf(step).flatMap((process) => [
      ...leaks(process, needles, own),
      ...unmasked(process, own, run.stage.plane.apiKey),
      ...(ownProcessesOf(step).includes(process) ? astray(process, step, own) : []),
    ]);
  });
}

interface Needle {
  readonly secret: string;
  readonly parts: readonly string[];
}

function encoded(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // From the middle, as how the ends are written hangs on what stands beside them.
  return [
    bytes.toString('base64').slice(4, 40),
    bytes.toString('hex').slice(0, 40),
    Buffer.from(`Bearer ${secret}`).toString('base64').slice(12, 48),
  ];
}

function leaks({ words, resultFile }: ProcessRecord, needles: readonly Needle[], own: ReadonlySet<string>): string[] {
  const texts = words
    .filter(({ kind }) => kind !== 'mask')
    .map((word) => ({ place: placeOf(word), text: without(word, own) }));
  if (resultFile !== undefined) texts.push({ place: 'the result file', text: resultFile });
  const all = texts.map(({ text }) => text).join('\n');
  return needles.flatMap(({ secret, parts }) =>
    parts.some((part) => all.includes(part))
      ? texts
          .filter(({ text }) => parts.some((part) => text.includes(part)))
          .map(({ place }) => `secret ${secret.slice(0, 6)}… in ${place}`)
      : [],
  );
}

function placeOf({ kind, name }: Word): string {
  return name === '' ? kind : `${kind} ${name}`;
}

/** The places that are there to hand on the minted key may hold it, whole. */
function without({ kind, name, text }: Word, own: ReadonlySet<string>): string {
  const mayHold = kind === 'state' || kind === 'variable' || (kind === 'output' && name === 'key');
  return mayHold ? [...own].reduce((rest, secret) => rest.replaceAll(secret, ''), text) : text;
}

function unmasked({ words, part }: ProcessRecord, own: ReadonlySet<string>, parent: string): string[] {
  const problems = [...own].flatMap((secret) => {
    const shown = words.findIndex(({ kind, text }) => kind !== 'mask' && text.includes(secret));
    const masked = words.findIndex(({ kind, text }) => kind === 'mask' && text === secret);
    return shown >= 0 && (masked < 0 || masked > shown)
      ? [`a minted key in ${words[shown]?.kind} before it is masked`]
      : [];
  });
  const first = words[0];
  if (part === 'main' && first !== undefined && !(first.kind === 'mask' && first.text === parent))
    problems.push('something was said before the parent key was masked');
  return problems;
}

function astray({ part, sent }: ProcessRecord, { main, plan }: StepRecord, own: ReadonlySet<string>): string[] {
  const parent = main.sent[0]?.authorization ?? '';
  return sent.flatMap(({ authorization, origin: to, path }) => {
    if (to !== origin) return [`a request went to ${to}`];
    if (authorization === parent) return [];
    const isMinted = part === 'post' && plan.mode === 'create-key' && own.has(authorization.replace(/^Bearer /, ''));
    return isMinted ? [] : [`a key that is not of this step was sent with ${path}`];
  });
}
