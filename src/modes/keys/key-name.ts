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
// `<label>-run<id>-<attempt>-<fingerprint>-<random>`: whose it is can be read back, and a person can search for the run.
const shape = /^([a-z0-9-]{1,20})-run([1-9]\d{0,19})-([1-9]\d{0,2})-([a-z0-9]{10})-([a-z0-9]{4,12})$/;

/** A name that no other step has, of the same job or of another. */
export function keyName(label: string, { id, attempt, fingerprint }: Run, random: () => number): string {
  const begin = `${label}-run${id}-${attempt}-${fingerprint}-`;
  return begin + randomText(Math.min(mostRandom, longest - begin.length), random);
}

/** The run that a key was made for; nothing where this action did not make the name. */
export function runOf(name: string): Run | undefined {
  const [, , id = '', attempt = '', fingerprint = '', random = ''] = shape.exec(name) ?? [];
  if (id === '' || random.length !== Math.min(mostRandom, longest - name.length + random.length)) return undefined;
  return { id, attempt: Number(attempt), fingerprint };
}

/** `repository`: its id, which survives a new name, or its name where the runner gives no id. */
export function fingerprintOf(server: string, repository: string): string {
  const text = `${server.toLowerCase().replace(/\/+$/, '')} ${repository.toLowerCase()}`;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return BigInt(`0x${digest}`).toString(36).padStart(10, '0').slice(-10);
}

function randomText(length: number, random: () => number): string {
  return Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
}
