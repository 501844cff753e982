import { createHash } from 'node:crypto';

export interface WorkflowRun {
  /** Of the GitHub server and the repository. */
  readonly fingerprint: string;
  readonly id: string;
  readonly attempt: number;
}

export type KeyOrigin = { readonly run: WorkflowRun; readonly isKept: boolean };

const maxLength = 64;
const maxRandom = 12;
const fingerprintLength = 10;

/**
 * `<repository>-run<id>-<attempt>-<fingerprint>-<random>`, so people can find the run; `kept` in place of `run` for a key that
 * is kept on purpose. Only the first part may contain hyphens. The random part takes what remains of the length.
 */
const pattern = new RegExp(
  `^[a-z0-9-]{1,20}-(run|kept)([1-9]\\d{0,19})-([1-9]\\d{0,2})-([a-z0-9]{${fingerprintLength}})-[a-z0-9]{3,${maxRandom}}$`,
);

/** `repository`: its name without the owner. */
export function makeKeyName(repository: string, { run, isKept }: KeyOrigin, random: () => number): string {
  const label = repository.toLowerCase().replace(/[^a-z0-9-]/g, '-');
  const start = `${label.slice(0, 20) || 'ctl'}-${isKept ? 'kept' : 'run'}${run.id}-${run.attempt}-${run.fingerprint}-`;
  const length = Math.min(maxRandom, maxLength - start.length);
  return start + Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
}

/** Returns undefined for a name that this action did not create. */
export function parseKeyName(name: string): KeyOrigin | undefined {
  const [, word, id = '', attempt = '', fingerprint = ''] = pattern.exec(name) ?? [];
  if (word === undefined) return undefined;
  return { run: { id, attempt: Number(attempt), fingerprint }, isKept: word === 'kept' };
}

export function currentRun(environment: NodeJS.ProcessEnv): WorkflowRun {
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt, GITHUB_REPOSITORY: name = '' } = environment;
  const server = environment['GITHUB_SERVER_URL'] || 'https://github.com';
  const fingerprint = repositoryFingerprint(server, environment['GITHUB_REPOSITORY_ID'] || name);
  return { id, attempt: Number(attempt || 1), fingerprint };
}

/** `repository`: the repository id, which survives a rename. If the runner provides no id, the repository name. */
export function repositoryFingerprint(server: string, repository: string): string {
  const text = `${server.toLowerCase().replace(/(?<!\/)\/+$/, '')} ${repository.toLowerCase()}`;
  const hash = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`) % 36n ** BigInt(fingerprintLength);
  return hash.toString(36).padStart(fingerprintLength, '0');
}
