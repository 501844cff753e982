import { createHash } from 'node:crypto';

export interface ReadName {
  readonly fingerprint: string;
  readonly run: string;
  readonly attempt: number;
  readonly isKept: boolean;
}

const space = 36n ** 10n;

function hash(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 24)}`);
}

function print(number: bigint): string {
  return (((number % space) + space) % space).toString(36).padStart(10, '0');
}

/** That of the repository in which all runs take place. */
export const ours = print(hash('https://github.com 5'));

/** The format of names as it is promised, read from its end and by other means than those of the action. */
export function readName(name: string): ReadName | undefined {
  const fields = name.split('-');
  const unique = fields.pop() ?? '';
  const seal = fields.pop() ?? '';
  const [, attempt = ''] = /^([1-9]\d{0,2})$/.exec(fields.pop() ?? '') ?? [];
  const [, word, run = ''] = /^(run|kept)([1-9]\d{0,19})$/.exec(fields.pop() ?? '') ?? [];
  const label = fields.join('-');
  if (!/^[a-z0-9-]{1,20}$/.test(label) || attempt === '' || word === undefined) return undefined;
  if (!/^[a-z0-9]{10}$/.test(seal) || !/^[a-z0-9]{3,12}$/.test(unique) || name.length > 64) return undefined;
  const rest = name.slice(0, -`${seal}-${unique}`.length) + unique;
  const fingerprint = print(BigInt(Number.parseInt(seal, 36)) - (hash(rest) % space));
  return { fingerprint, run, attempt: Number(attempt), isKept: word === 'kept' };
}
