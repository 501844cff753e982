import { createHash } from 'node:crypto';

/** The parts of a key name that identify a workflow run. */
export interface WorkflowRun {
  /** Hash of the GitHub server and the repository. */
  readonly fingerprint: string;
  readonly id: string;
  readonly attempt: number;
}

export interface KeyOrigin {
  readonly run: WorkflowRun;
  /** True if the key is kept on purpose (`revoke-in-post: false`). No sweep revokes such a key. */
  readonly isKept: boolean;
}

// The contract limits a name to 64 characters, and its label to 20.
const maxLength = 64;
export const maxLabelLength = 20;

const maxRandom = 12;
/**
 * Names have the form `<label>-run<id>-<attempt>-<seal>-<random>`, so people can find the run. A key that is kept on purpose
 * has `kept` in place of `run`. Only the label may contain hyphens, so the other fields are unambiguous. The random part
 * takes what remains of the length: 3 characters if all other fields have their maximum length.
 */
const pattern = new RegExp(
  `^([a-z0-9-]{1,${maxLabelLength}})-(run|kept)([1-9]\\d{0,19})-([1-9]\\d{0,2})-([a-z0-9]{10})-([a-z0-9]+)$`,
);

/** The contract promises a unique name for each step of each job. */
export function makeKeyName(label: string, { run, isKept }: KeyOrigin, random: () => number): string {
  const start = `${label}-${isKept ? 'kept' : 'run'}${run.id}-${run.attempt}-`;
  const randomDigit = () => Math.floor(random() * 36).toString(36);
  const unique = Array.from({ length: randomLength(start) }, randomDigit).join('');
  const seal = (BigInt(Number.parseInt(run.fingerprint, 36)) + hash(start + unique)) % space;
  const name = `${start}${toBase36(seal)}-${unique}`;
  // A key with an unreadable name would never be swept.
  if (parseKeyName(name) === undefined) throw new RangeError('A part of the key name is too long.');
  return name;
}

/** Returns undefined for a name that this action did not create. */
export function parseKeyName(name: string): KeyOrigin | undefined {
  const [, label = '', word = '', id = '', attempt = '', seal = '', unique = ''] = pattern.exec(name) ?? [];
  const start = `${label}-${word}${id}-${attempt}-`;
  if (label === '' || unique.length !== randomLength(start)) return undefined;
  const fingerprint = (BigInt(Number.parseInt(seal, 36)) - hash(start + unique) + space) % space;
  return { run: { id, attempt: Number(attempt), fingerprint: toBase36(fingerprint) }, isKept: word === 'kept' };
}

/** `repository`: the repository id, which survives a rename. If the runner provides no id, the repository name. */
export function repositoryFingerprint(server: string, repository: string): string {
  return toBase36(hash(`${server.toLowerCase().replace(/(?<!\/)\/+$/, '')} ${repository.toLowerCase()}`));
}

// The seal is the sum of the fingerprint and a hash of the other fields. So the fingerprint is the seal minus this hash. If
// somebody changes a field, for example `kept` to `run`, the hash changes. Then the result is the fingerprint of no known
// repository. A seal has 10 digits in base 36. It is below 2^53, so `Number.parseInt` is exact.
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
