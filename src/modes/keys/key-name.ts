import { createHash } from 'node:crypto';

/** The run of a workflow that a key is made for. */
export interface Run {
  /** Of the GitHub server and the repository. */
  readonly fingerprint: string;
  /** Digits. */
  readonly id: string;
  readonly attempt: number;
}

const longest = 64;
const mostRandom = 12;

export const labelLength = 20;
// `<label>-run<id>-<attempt>-<seal>-<random>`: whose it is can be read back, and a person can search for the run.
const shape = /^([a-z0-9-]{1,20})-run([1-9]\d{0,19})-([1-9]\d{0,2})-([a-z0-9]{10})-([a-z0-9]{4,12})$/;

/** A name that no other step has, of the same job or of another. */
export function keyName(label: string, { id, attempt, fingerprint }: Run, random: () => number): string {
  const begin = `${label}-run${id}-${attempt}-`;
  const unique = randomText(Math.min(mostRandom, longest - begin.length - digits - 1), random);
  const seal = (BigInt(Number.parseInt(fingerprint, 36)) + hash(begin + unique)) % space;
  return `${begin}${textOf(seal)}-${unique}`;
}

/** The run that a key was made for; nothing where this action did not make the name. */
export function runOf(name: string): Run | undefined {
  const [, label = '', id = '', attempt = '', seal = '', unique = ''] = shape.exec(name) ?? [];
  const begin = `${label}-run${id}-${attempt}-`;
  if (label === '' || unique.length !== Math.min(mostRandom, longest - begin.length - digits - 1)) return undefined;
  const fingerprint = (BigInt(Number.parseInt(seal, 36)) - hash(begin + unique) + space) % space;
  return { id, attempt: Number(attempt), fingerprint: textOf(fingerprint) };
}

/** `repository`: its id, which survives a new name, or its name where the runner gives no id. */
export function fingerprintOf(server: string, repository: string): string {
  return textOf(hash(`${server.toLowerCase().replace(/(?<!\/)\/+$/, '')} ${repository.toLowerCase()}`));
}

// The fingerprint stands in a name added to a hash of all the rest. A name that somebody has changed, in whatever place, is
// then that of another repository.
const digits = 10;
const space = 36n ** BigInt(digits);

function hash(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 24)}`) % space;
}

function textOf(number: bigint): string {
  return number.toString(36).padStart(digits, '0');
}

function randomText(length: number, random: () => number): string {
  return Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
}
