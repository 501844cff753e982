import { createHash } from 'node:crypto';

/** The run of a workflow that a key is made for. */
export interface Run {
  /** Of the GitHub server and the repository. */
  readonly fingerprint: string;
  /** Digits. */
  readonly id: string;
  readonly attempt: number;
}

/** What the name of a key says about it. */
export interface KeyOrigin {
  readonly run: Run;
  /** Kept on purpose (`revoke-in-post: false`): it outlives its run, so no sweep revokes it. */
  readonly isKept: boolean;
}

const maxLength = 64;
const maxRandom = 12;

export const labelLength = 20;
/**
 * `<label>-run<id>-<attempt>-<seal>-<random>`, with `kept` in place of `run` for a key kept on purpose: a person can read it,
 * and search for the run. No field behind the label holds a hyphen, so a label can hold anything. A version that does not know
 * a word in this place takes the key for one of others, and never revokes it. The longest fields leave 3 random characters.
 */
const shape = /^([a-z0-9-]{1,20})-(run|kept)([1-9]\d{0,19})-([1-9]\d{0,2})-([a-z0-9]{10})-([a-z0-9]{3,12})$/;

/** A name that no other step has, of the same job or of another. */
export function keyName(label: string, { run, isKept }: KeyOrigin, random: () => number): string {
  const start = `${label}-${isKept ? 'kept' : 'run'}${run.id}-${run.attempt}-`;
  const unique = randomText(randomLength(start), random);
  const seal = (BigInt(Number.parseInt(run.fingerprint, 36)) + hash(start + unique)) % space;
  return `${start}${toBase36(seal)}-${unique}`;
}

/** Nothing if this action did not make the name. */
export function parseKeyName(name: string): KeyOrigin | undefined {
  const [, label = '', word = '', id = '', attempt = '', seal = '', unique = ''] = shape.exec(name) ?? [];
  const start = `${label}-${word}${id}-${attempt}-`;
  if (label === '' || unique.length !== randomLength(start)) return undefined;
  const fingerprint = (BigInt(Number.parseInt(seal, 36)) - hash(start + unique) + space) % space;
  return { run: { id, attempt: Number(attempt), fingerprint: toBase36(fingerprint) }, isKept: word === 'kept' };
}

/** `repository`: its id, which survives a new name, or its name where the runner gives no id. */
export function fingerprintOf(server: string, repository: string): string {
  return toBase36(hash(`${server.toLowerCase().replace(/(?<!\/)\/+$/, '')} ${repository.toLowerCase()}`));
}

// The seal is the fingerprint plus a hash of all the rest. A name that somebody has changed in any place, `kept` included,
// is then that of another repository.
const digits = 10;
const space = 36n ** BigInt(digits);

function hash(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 24)}`) % space;
}

function toBase36(number: bigint): string {
  return number.toString(36).padStart(digits, '0');
}

function randomLength(start: string): number {
  return Math.min(maxRandom, maxLength - start.length - digits - 1);
}

function randomText(length: number, random: () => number): string {
  return Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
}
