import { createHash } from 'node:crypto';

/** The workflow run that a key was created for. */
export interface WorkflowRun {
  /** Identifies the GitHub server and the repository. */
  readonly fingerprint: string;
  /** Digits only. */
  readonly id: string;
  readonly attempt: number;
}

/** Facts about a key that its name carries. */
export interface KeyOrigin {
  readonly run: WorkflowRun;
  /** Kept on purpose (`revoke-in-post: false`): the key outlives its run, so no sweep revokes it. */
  readonly isKept: boolean;
}

// Promises of the contract.
const maxLength = 64;
export const maxLabelLength = 20;

const maxRandom = 12;
/**
 * `<label>-run<id>-<attempt>-<seal>-<random>`: a person can read it, and search for the run. `kept` replaces `run` in
 * the name of a key that is kept on purpose. Only the label may contain hyphens, so the fields after it are
 * unambiguous. A version that knows `run` alone treats a kept key as foreign, and never revokes it.
 * The longest fields leave 3 characters for the random part.
 */
const pattern = /^([a-z0-9-]{1,20})-(run|kept)([1-9]\d{0,19})-([1-9]\d{0,2})-([a-z0-9]{10})-([a-z0-9]{3,12})$/;

/** Unique for every step of every job: a promise of the contract. */
export function makeKeyName(label: string, { run, isKept }: KeyOrigin, random: () => number): string {
  const start = `${label}-${isKept ? 'kept' : 'run'}${run.id}-${run.attempt}-`;
  const randomDigit = () => Math.floor(random() * 36).toString(36);
  const unique = Array.from({ length: randomLength(start) }, randomDigit).join('');
  const seal = (BigInt(Number.parseInt(run.fingerprint, 36)) + hash(start + unique)) % space;
  return `${start}${toBase36(seal)}-${unique}`;
}

/** Undefined if this action did not make the name. */
export function parseKeyName(name: string): KeyOrigin | undefined {
  const [, label = '', word = '', id = '', attempt = '', seal = '', unique = ''] = pattern.exec(name) ?? [];
  const start = `${label}-${word}${id}-${attempt}-`;
  if (label === '' || unique.length !== randomLength(start)) return undefined;
  const fingerprint = (BigInt(Number.parseInt(seal, 36)) - hash(start + unique) + space) % space;
  return { run: { id, attempt: Number(attempt), fingerprint: toBase36(fingerprint) }, isKept: word === 'kept' };
}

/** `repository`: its id, which survives a rename, or its name if the runner provides no id. */
export function repositoryFingerprint(server: string, repository: string): string {
  return toBase36(hash(`${server.toLowerCase().replace(/(?<!\/)\/+$/, '')} ${repository.toLowerCase()}`));
}

// The seal is the fingerprint plus a hash of the rest of the name. A change anywhere, `kept` included, turns it into a
// name of another repository. Numbers of 10 digits in base 36 are below 2^53, so `Number.parseInt` is exact.
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
