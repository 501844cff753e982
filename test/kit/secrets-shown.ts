import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from '../../control-plane/index.js';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import type { StepResult } from '../runner/step.js';
import { readSaved } from './saved-state.js';

/**
 * Finds secrets, or pieces of them, in the streams, files and requests of the steps of one job. A secret may be only in the
 * masks and in the header that sends it, a minted key also in the output `key` and main's state.
 */
export function secretsShown(
  results: readonly StepResult[],
  { minted, others }: Record<'minted' | 'others', readonly string[]>,
  requests: readonly Pick<Exchange, 'n' | 'path' | 'body' | 'headers'>[] = [],
): string[] {
  const secrets = [...minted, ...others];
  const places: [place: string, text: string][] = [];
  for (const [n, { stdout, stderr }] of results.entries())
    places.push([`stdout of step ${n}`, withoutMasks(stdout, secrets)], [`stderr of step ${n}`, stderr]);
  const [main] = results;
  const hideMinted = (value: string) => (minted.includes(value) ? '' : value);
  for (const path of main === undefined ? [] : filesIn(main.job.root)) {
    const text = readFileSync(path).toString('latin1');
    if (path === main?.files.output) places.push([path, changeEntry(text, 'key', hideMinted)]);
    else if (path === main?.files.state)
      places.push([path, changeEntry(text, 'key', (state) => withoutMinted(state, hideMinted))]);
    else places.push([path, text]);
  }
  for (const { n, path, body, headers } of requests)
    places.push([`request ${n}`, JSON.stringify([path, body, { ...headers, authorization: '' }])]);
  const pieces = piecesOf(secrets);
  return places.flatMap(([place, text]) => {
    const found = decodings(text)
      .flatMap(windows)
      .find((piece) => pieces.has(piece));
    return found === undefined ? [] : `${place}: ${found}`;
  });
}

/** The text, and what it says once it is read as JSON, HTML or a URL. */
export function decodings(text: string): string[] {
  const character = (code: string, radix: number) => String.fromCharCode(Number.parseInt(code, radix));
  const json = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => character(code, 16))
    .replace(/\\(["\\/])/g, '$1');
  const html = text
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replace(/&#(\d+);/g, (_, code: string) => character(code, 10))
    .replaceAll('&amp;', '&');
  const url = text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => character(code, 16));
  return [...new Set([text, json, html, url])];
}

/** Every piece of the secrets, also in base64 and hex, that is too long for chance. */
function piecesOf(secrets: readonly string[]): ReadonlySet<string> {
  const forms = secrets.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('hex'),
    // Within a longer text it begins at any of three places.
    ...[0, 1, 2].map((at) => Buffer.from(secret).subarray(at).toString('base64url')),
    ...[0, 1, 2].map((at) => Buffer.from(secret).subarray(at).toString('base64')),
  ]);
  return new Set(forms.flatMap(windows));
}

const pieceLength = 12;

function windows(text: string): string[] {
  const lower = text.toLowerCase();
  return Array.from({ length: Math.max(0, text.length + 1 - pieceLength) }, (_, n) => lower.slice(n, n + pieceLength));
}

/** The forms of a minted key that are masked beside the key itself. */
export function maskedForms(secret: string): string[] {
  const encode = (text: string, encoding: 'hex' | 'base64url') => Buffer.from(text).toString(encoding);
  const hex = encode(secret, 'hex');
  return [hex, hex.toUpperCase(), encode(secret, 'base64url'), encode(`Bearer ${secret}`, 'base64url')];
}

/** Removes lines that are the mask of a whole secret, and nothing else. */
function withoutMasks(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret.replaceAll('%', '%25'), ...maskedForms(secret)]);
  const masks = new Set(forms.map((form) => `::add-mask::${form}`));
  const lines = text.split(/\r?\n/);
  return lines.filter((line) => !masks.has(line)).join('\n');
}

function withoutMinted(state: string, hideMinted: (value: string) => string): string {
  if (state === nothingToRevoke) return state;
  const { seal, object } = readSaved(state);
  const { minted } = object as { minted?: { secret?: string } };
  if (minted?.secret !== undefined) minted.secret = hideMinted(minted.secret);
  return seal + JSON.stringify(object);
}

function changeEntry(text: string, name: string, change: (value: string) => string): string {
  return text.replace(/^(.+)<<(\S+)\r?\n(.*)\r?\n\2\r?$/gm, (entry, given: string, _: string, value: string) =>
    given === name ? change(value) : entry,
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
