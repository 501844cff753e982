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

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isOf =
  (shape: RegExp): Check =>
  (value) =>
    typeof value === 'string' && shape.test(value);
const isBoolean: Check = (value) => typeof value === 'boolean';

const checks: Readonly<Record<keyof Trace, Check>> = {
  baseUrl: (value) => isText(value) && URL.canParse(String(value)),
  name: isOf(/^[a-z0-9-]{1,64}$/),
  unclear: isBoolean,
  minted: (value) =>
    value === undefined || (isOf(/^\d+$/)(partOf(value, 'id')) && isOf(/^[\x21-\x7e]+$/)(partOf(value, 'secret'))),
  since: Number.isFinite,
  parent: isText,
  revoke: isBoolean,
  onFailure: (value) => onFailureWords.some((word) => word === value),
  summary: isBoolean,
};

/** Nothing of it stands in an error: it holds a key. */
export function parseTrace(text: string): Trace {
  const trace = parseJson(text);
  const bad = Object.entries(checks).flatMap(([part, check]) => (check(partOf(trace, part)) ? [] : [part]));
  if (bad.length > 0) throw new Error(`what main left for it cannot be read (${bad.join(', ')})`);
  return trace as Trace;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function partOf(value: unknown, part: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
}

export function fingerprintOfKey(secret: string, salt: string = randomBytes(16).toString('hex')): string {
  return `${salt}:${createHash('sha256').update(`${salt}:${secret}`).digest('hex')}`;
}

export function isKeyOf(fingerprint: string, secret: string): boolean {
  const own = Buffer.from(fingerprintOfKey(secret, fingerprint.split(':')[0]));
  const other = Buffer.from(fingerprint);
  return own.length === other.length && timingSafeEqual(own, other);
}
