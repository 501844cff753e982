import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import type { Exchange } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { readSaved } from './saved-state.js';

export interface KnownSecrets {
  /** Those that a step may hand on. */
  readonly minted: readonly string[];
  /** That of the workflow, and any that is none of the job's business. */
  readonly others: readonly string[];
  /** The environment variable that `export-env` names. */
  readonly variable?: string | undefined;
}

/**
 * Where a secret is shown, or a piece of one: in streams, files and requests of the steps of one job, as raw bytes. Allowed
 * are the masks, the output `key`, the variable of `export-env`, the minted key in main's state, and the header that keys are
 * sent in.
 */
export function secretsShown(
  results: readonly StepResult[],
  { minted, others, variable }: KnownSecrets,
  requests: readonly Exchange[] = [],
): string[] {
  const secrets = [...minted, ...others];
  const needles = piecesOf(secrets);
  const isMinted = (value: string) => minted.includes(value);
  const places: [place: string, text: string][] = [];
  const main = results[0];
  for (const [index, { bytes }] of results.entries()) {
    const step = index === 0 ? 'main' : 'post';
    places.push([`stdout of ${step}`, withoutMasks(bytes.stdout.toString('latin1'), secrets)]);
    places.push([`stderr of ${step}`, bytes.stderr.toString('latin1')]);
  }
  for (const path of main === undefined ? [] : filesIn(main.tempDir)) {
    const text = readFileSync(path).toString('latin1');
    const allowed =
      path === main?.files.output
        ? withoutEntry(text, 'key', isMinted)
        : path === main?.files.state
          ? withoutMinted(text, isMinted)
          : path === main?.files.env && variable !== undefined
            ? withoutEntry(text, variable, isMinted)
            : text;
    places.push([path, allowed]);
  }
  for (const { n, path, body, headers } of requests) {
    places.push([`request ${n}`, JSON.stringify([path, body, { ...headers, authorization: '' }])]);
  }
  return places.flatMap(([place, text]) => {
    const piece = firstPiece(text, needles);
    return piece === undefined ? [] : [`${place}: ${piece}`];
  });
}

const pieceLength = 12;
const hexPieceLength = 2 * pieceLength;

interface Pieces {
  readonly plain: ReadonlySet<string>;
  readonly hex: ReadonlySet<string>;
}

/** Of all forms of the secrets, in lower case: every piece that is too long for chance. */
function piecesOf(secrets: readonly string[]): Pieces {
  const plain = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
    secret.replaceAll('%', '%25'),
    // Within a longer text it begins at any of three places.
    ...[0, 1, 2].flatMap((at) => {
      const bytes = Buffer.from(secret).subarray(at);
      return [bytes.toString('base64'), bytes.toString('base64url')];
    }),
  ]);
  const hex = secrets.map((secret) => Buffer.from(secret).toString('hex'));
  return { plain: windows(plain, pieceLength), hex: windows(hex, hexPieceLength) };
}

function windows(texts: readonly string[], length: number): Set<string> {
  const found = new Set<string>();
  for (const text of texts) {
    const lower = text.toLowerCase();
    for (let at = 0; at + length <= lower.length; at++) found.add(lower.slice(at, at + length));
  }
  return found;
}

function firstPiece(text: string, { plain, hex }: Pieces): string | undefined {
  const lower = text.toLowerCase();
  for (let at = 0; at + pieceLength <= lower.length; at++) {
    const piece = lower.slice(at, at + pieceLength);
    if (plain.has(piece)) return piece;
    const hexPiece = lower.slice(at, at + hexPieceLength);
    if (hex.has(hexPiece)) return hexPiece;
  }
  return undefined;
}

/** Lines that are the mask of a whole secret, and nothing else. */
function withoutMasks(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [
    secret.replaceAll('%', '%25'),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64url'),
  ]);
  const masks = new Set(forms.map((form) => `::add-mask::${form}`));
  return text
    .split(/\r?\n/)
    .filter((line) => !masks.has(line))
    .join('\n');
}

function withoutEntry(text: string, name: string, isAllowed: (value: string) => boolean): string {
  return changeEntry(text, name, (value) => (isAllowed(value) ? '' : value));
}

function withoutMinted(text: string, isAllowed: (value: string) => boolean): string {
  return changeEntry(text, 'key', (value) => {
    if (value === nothingToRevoke) return value;
    const { seal, object } = readSaved(value);
    const { minted } = object as { minted?: { secret?: string } };
    if (minted?.secret !== undefined && isAllowed(minted.secret)) minted.secret = '';
    return seal + JSON.stringify(object);
  });
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
