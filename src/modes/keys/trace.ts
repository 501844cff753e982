import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What main leaves for post: enough to revoke the key, also where main was killed before it heard of it. */
export interface Trace {
  readonly baseUrl: string;
  readonly name: string;
  /** Whether a key may have been made that main never heard of. */
  readonly unclear: boolean;
  /** The key that main got, if it did. */
  readonly minted: { readonly id: string; readonly secret: string } | undefined;
  /** When the name was made, in milliseconds since 1970. */
  readonly since: number;
  /** A salted fingerprint of the parent key: post must not send any other. */
  readonly parent: string;
  /** Whether that key is to be revoked, too. */
  readonly revoke: boolean;
  readonly onFailure: OnFailure;
  readonly summary: boolean;
}

export const onFailureWords = ['warn', 'fail'] as const;
export type OnFailure = (typeof onFailureWords)[number];

export function printTrace(trace: Trace): string {
  return JSON.stringify(trace);
}

export function parseTrace(text: string): Trace {
  const { minted, ...trace } = parseObject(text);
  const whole = {
    ...trace,
    minted: minted === undefined ? undefined : { id: textIn(minted, 'id'), secret: textIn(minted, 'secret') },
  };
  for (const name of ['baseUrl', 'name', 'parent'] as const) textIn(whole, name);
  if (!URL.canParse(textIn(whole, 'baseUrl'))) throw unreadable('baseUrl');
  return whole as unknown as Trace;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The parser's own error would quote the text, which holds a key.
  }
  throw unreadable('all of it');
}

function textIn(value: unknown, name: string): string {
  const text = (value as Record<string, unknown> | null)?.[name];
  if (typeof text !== 'string' || text === '') throw unreadable(name);
  return text;
}

function unreadable(part: string): Error {
  return new Error(`what main left for it cannot be read (${part})`);
}

export function fingerprintOfKey(secret: string, salt: string = randomBytes(16).toString('hex')): string {
  return `${salt}:${createHash('sha256').update(`${salt}:${secret}`).digest('hex')}`;
}

export function isKeyOf(fingerprint: string, secret: string): boolean {
  const own = Buffer.from(fingerprintOfKey(secret, fingerprint.split(':')[0]));
  const other = Buffer.from(fingerprint);
  return own.length === other.length && timingSafeEqual(own, other);
}
