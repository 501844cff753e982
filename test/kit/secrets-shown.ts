import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepResult } from '../runner/step.js';

/** What is read of a step: its job has one folder. */
type Shown = Pick<StepResult, 'stdout' | 'stderr'> & { readonly job: Pick<StepResult['job'], 'root'> };

/**
 * Finds pieces of secrets in the streams and files of the steps of one job. A secret may be only in masks, a minted key also
 * in the output `key` and main's state.
 */
export function secretsShown(
  steps: readonly Shown[],
  { minted, others }: Record<'minted' | 'others', readonly string[]>,
): string[] {
  const secrets = [...minted, ...others];
  const files = readdirSync(steps[0]?.job.root ?? '', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = [
    ...steps.map(({ stdout, stderr }, n) => [`step ${n}`, withoutMasks(stdout, secrets) + stderr] as const),
    ...files.map((path) => [path, withoutMinted(readFileSync(path, 'latin1'), minted)] as const),
  ];
  const pieces = new Set(secrets.flatMap(formsOf).flatMap(piecesOf));
  return texts.flatMap(([place, text]) => {
    const shown = decodings(text)
      .flatMap(piecesOf)
      .find((piece) => pieces.has(piece));
    return shown === undefined ? [] : [`${place}: ${shown}`];
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

/** Within a longer text, base64 begins at any of three places. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('hex'), ...[0, 1, 2].map((at) => bytes.subarray(at).toString('base64'))];
}

/** All pieces that are too long for chance. Base64 and base64url have the same ones. */
function piecesOf(text: string): string[] {
  const [plain, length] = [text.toLowerCase().replaceAll('-', '+').replaceAll('_', '/'), 12];
  return Array.from({ length: Math.max(0, plain.length + 1 - length) }, (_, n) => plain.slice(n, n + length));
}

/** Removes lines that are the mask of a whole secret, and nothing else. */
function withoutMasks(text: string, secrets: readonly string[]): string {
  const masks = new Set(secrets.map((secret) => `::add-mask::${secret.replaceAll('%', '%25')}`));
  const lines = text.split(/\r?\n/);
  return lines.filter((line) => !masks.has(line)).join('\n');
}

/** Removes a minted key from the output or state `key`, where it is handed over. */
function withoutMinted(text: string, minted: readonly string[]): string {
  return text.replace(/^key<<(\S+)\r?\n(.*)\r?\n\1\r?$/gm, (entry, _, value: string) => {
    const rest = minted.reduce((state, secret) => state.replaceAll(`"secret":${JSON.stringify(secret)}`, ''), entry);
    return minted.includes(value) ? '' : rest;
  });
}
