import { createHmac, timingSafeEqual } from 'node:crypto';
import { isKeyId, isKeySecret } from '../../api/keys.js';
import { parseKeyName } from './key-name.js';

/** What main saves for post: enough to revoke the key, even if main was killed before it received it. */
export interface PostState {
  readonly baseUrl: string;
  readonly name: string;
  /** Whether a key may have been made that main never heard of. */
  readonly unclear: boolean;
  /** The key that main got, if it did. */
  readonly minted: { readonly id: string; readonly secret: string } | undefined;
  /** When the name was made, in milliseconds since 1970. */
  readonly since: number;
  /** Whether that key is to be revoked, too. */
  readonly revoke: boolean;
  readonly onFailure: OnFailure;
  readonly summary: boolean;
}

export const onFailureWords = ['warn', 'fail'] as const;
export type OnFailure = (typeof onFailureWords)[number];

/** Sealed with the parent key: post sends that key only for a state that main wrote. `run`: of the workflow, with its attempt. */
export function serializePostState(state: PostState, parentKey: string, run: string): string {
  const text = JSON.stringify(state);
  return `${seal(text, parentKey, run)}${text}`;
}

/** Whether the holder of this key wrote every byte of the state, in this attempt of this run. */
export function isSealed(saved: string, key: string, run: string): boolean {
  const found = split(saved);
  const [given, expected] = [Buffer.from(found.seal), Buffer.from(seal(found.text, key, run))];
  // timingSafeEqual throws if the lengths differ.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function seal(text: string, key: string, run: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([run, text]))
    .digest('hex');
}

/** The seal stands before the object that it covers. */
function split(saved: string): { readonly seal: string; readonly text: string } {
  const at = Math.max(0, saved.indexOf('{'));
  return { seal: saved.slice(0, at), text: saved.slice(at) };
}

type Check = (value: unknown) => boolean;

const isTextThat =
  (check: (text: string) => boolean): Check =>
  (value) =>
    typeof value === 'string' && check(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
/** Where dates end, in milliseconds from 1970. */
const longestTime = 8.64e15;

const checks: Readonly<Record<Exclude<keyof PostState, 'baseUrl'>, Check>> = {
  name: isTextThat((text) => parseKeyName(text) !== undefined),
  unclear: isBoolean,
  minted: (value) =>
    value === undefined ||
    // The id becomes a part of a path, the secret a header and a mask.
    (isTextThat(isKeyId)(partOf(value, 'id')) && isTextThat(isKeySecret)(partOf(value, 'secret'))),
  since: (value) => typeof value === 'number' && Math.abs(value) <= longestTime,
  revoke: isBoolean,
  onFailure: (value) => onFailureWords.some((word) => word === value),
  summary: isBoolean,
};

/** Names parts, and quotes nothing: a state holds a key. */
export class UnreadablePostState extends Error {
  constructor(parts: readonly string[]) {
    super(
      `the state that main saved cannot be read (${parts.join(', ')}). Another step of this job may have written over it`,
    );
  }
}

/** Checks every part, because another step can forge a state. `isBaseUrl`: whether main would accept this `base-url`. */
export function parsePostState(saved: string, isBaseUrl: (text: string) => boolean): PostState {
  const state = parseJson(split(saved).text);
  const all = { baseUrl: isTextThat(isBaseUrl), ...checks };
  const bad = Object.entries(all).flatMap(([part, check]) => (check(partOf(state, part)) ? [] : [part]));
  if (bad.length > 0) throw new UnreadablePostState(bad);
  const { unclear, minted, revoke } = state as PostState;
  // If there is nothing to revoke, main saves a marker instead.
  if (!unclear && (minted === undefined || !revoke)) throw new UnreadablePostState(['unclear', 'minted', 'revoke']);
  return state as PostState;
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
