import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from '../../control-plane/index.js';
import type { StepResult } from '../runner/step.js';

type Place = readonly [place: string, text: string];

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
  const streams = results.flatMap(({ stdout, stderr }, n): Place[] => [
    [`stdout of step ${n}`, withoutMasks(stdout, secrets)],
    [`stderr of step ${n}`, stderr],
  ]);
  const files = results.slice(0, 1).flatMap(({ job, files: { output, state } }) =>
    readdirSync(job.root, { recursive: true, withFileTypes: true }).flatMap((entry): Place[] => {
      if (!entry.isFile()) return [];
      const path = join(entry.parentPath ?? entry.path, entry.name);
      const text = readFileSync(path, 'latin1');
      return [[path, path === output || path === state ? withoutMinted(text, minted) : text]];
    }),
  );
  const sent = requests.map(
    ({ n, path, body, headers }): Place => [
      `request ${n}`,
      JSON.stringify([path, body, { ...headers, authorization: '' }]),
    ],
  );
  const pieces = new Set(secrets.flatMap(formsOf).flatMap(windows));
  return [...streams, ...files, ...sent].flatMap(([place, text]) => {
    const found = decodings(text).flatMap(windows);
    return found
      .filter((piece) => pieces.has(piece))
      .slice(0, 1)
      .map((piece) => `${place}: ${piece}`);
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
  const inBase64 = [0, 1, 2].flatMap((at) => {
    return [bytes.subarray(at).toString('base64url'), bytes.subarray(at).toString('base64')];
  });
  return [secret, bytes.toString('hex'), ...inBase64];
}

/** All pieces that are too long for chance. */
function windows(text: string): string[] {
  const [lower, length] = [text.toLowerCase(), 12];
  return Array.from({ length: Math.max(0, text.length + 1 - length) }, (_, n) => lower.slice(n, n + length));
}

/** Removes lines that are the mask of a whole secret, and nothing else. */
function withoutMasks(text: string, secrets: readonly string[]): string {
  const masks = new Set(secrets.map((secret) => `::add-mask::${secret.replaceAll('%', '%25')}`));
  return text
    .split(/\r?\n/)
    .filter((line) => !masks.has(line))
    .join('\n');
}

/** Removes a minted key from the output or state `key`, where it is handed over. */
function withoutMinted(text: string, minted: readonly string[]): string {
  return text.replace(/^key<<(\S+)\r?\n(.*)\r?\n\1\r?$/gm, (entry, _, value: string) => {
    const rest = minted.reduce((state, secret) => state.replaceAll(`"secret":${JSON.stringify(secret)}`, ''), entry);
    return minted.includes(value) ? '' : rest;
  });
}
