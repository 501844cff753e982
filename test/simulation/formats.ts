import { createHash, createHmac } from 'node:crypto';

// The formats that the action promises, written without the action's own code.

export interface KeyOrigin {
  readonly fingerprint: string;
  readonly run: string;
  readonly attempt: number;
  readonly isKept: boolean;
}

const space = 36n ** 10n;

function hash(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 24)}`) % space;
}

function base36(number: bigint): string {
  return ((number + space) % space).toString(36).padStart(10, '0');
}

export function fingerprintOf(repositoryId: string): string {
  return base36(hash(`https://github.com ${repositoryId}`));
}

/** Of the repository of all runs. */
export const ownFingerprint = fingerprintOf('5');

export function keyName(label: string, { fingerprint, run, attempt, isKept }: KeyOrigin, random: () => number): string {
  const start = `${label}-${isKept ? 'kept' : 'run'}${run}-${attempt}-`;
  const length = Math.min(12, 64 - start.length - 11);
  const unique = Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
  return `${start}${base36((BigInt(Number.parseInt(fingerprint, 36)) + hash(start + unique)) % space)}-${unique}`;
}

/** Reads a name from its end: only the label may contain hyphens. */
export function readKeyName(name: string): KeyOrigin | undefined {
  const fields = name.split('-');
  const unique = fields.pop() ?? '';
  const seal = fields.pop() ?? '';
  const [, attempt = ''] = /^([1-9]\d{0,2})$/.exec(fields.pop() ?? '') ?? [];
  const [, word, run = ''] = /^(run|kept)([1-9]\d{0,19})$/.exec(fields.pop() ?? '') ?? [];
  const isLabel = /^[a-z0-9-]{1,20}$/.test(fields.join('-'));
  const isSealed = /^[a-z0-9]{10}$/.test(seal) && /^[a-z0-9]{3,12}$/.test(unique) && name.length <= 64;
  if (!isLabel || !isSealed || attempt === '' || word === undefined) return undefined;
  const rest = name.slice(0, -`${seal}-${unique}`.length) + unique;
  const fingerprint = base36(BigInt(Number.parseInt(seal, 36)) - hash(rest));
  return { fingerprint, run, attempt: Number(attempt), isKept: word === 'kept' };
}

/** The seal that main puts before the state for post. `run`: the run and its attempt, as `7700/1`. */
export function sealOf(state: string, key: string, run: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([run, state]))
    .digest('hex');
}

/** Integers beyond 2^53 become strings. */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/(?<=[[:,]\s*)-?\d{16,}(?=\s*[\],}])/g, '"$&"'));
}
