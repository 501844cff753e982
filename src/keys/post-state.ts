import { createHmac, timingSafeEqual } from 'node:crypto';
import { isKeyId, isKeySecret } from '../api/keys.js';
import { getProperty, isText, parseJsonOrUndefined } from '../text/json.js';
import { parseKeyName } from './key-name.js';

/** Main saves this for post. It is enough to revoke the key even if main was killed before the response. */
export interface PostState {
  readonly baseUrl: string;
  readonly name: string;
  /** True if the service may have made a key that main does not know. */
  readonly mayHaveStrayKey: boolean;
  /** Undefined if main received no key. */
  readonly minted: { readonly id: string; readonly secret: string } | undefined;
  /** Milliseconds since 1970: when main began to create the key. */
  readonly since: number;
  /** False if `minted` is kept on purpose. */
  readonly revoke: boolean;
  readonly onFailure: OnFailure;
  readonly summary: boolean;
}

export const onFailureValues = ['warn', 'fail'] as const;
export type OnFailure = (typeof onFailureValues)[number];

/** Seals the state with the parent key: post sends that key only if main wrote the state. `run`: with its attempt. */
export function serializePostState(state: PostState, parentKey: string, run: string): string {
  const text = JSON.stringify(state);
  return `${seal(text, parentKey, run)}${text}`;
}

/** True if the holder of `key` wrote every byte of the state in this attempt of this run. */
export function isSealed(saved: string, key: string, run: string): boolean {
  const found = splitSeal(saved);
  const [given, expected] = [Buffer.from(found.seal), Buffer.from(seal(found.text, key, run))];
  // `timingSafeEqual` throws if the lengths differ.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function seal(text: string, key: string, run: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([run, text]))
    .digest('hex');
}

/** The seal precedes the JSON object that it covers. */
function splitSeal(saved: string): { readonly seal: string; readonly text: string } {
  const at = Math.max(0, saved.indexOf('{'));
  return { seal: saved.slice(0, at), text: saved.slice(at) };
}

type Check = (value: unknown) => boolean;

const isTextThat =
  (check: (text: string) => boolean): Check =>
  (value) =>
    isText(value) && check(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
/** Milliseconds from 1970, the range of dates: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const maxEpochMs = 8.64e15;

const checks: Readonly<Record<Exclude<keyof PostState, 'baseUrl'>, Check>> = {
  name: isTextThat((text) => parseKeyName(text) !== undefined),
  mayHaveStrayKey: isBoolean,
  minted: (value) =>
    value === undefined ||
    // The id becomes part of a URL path, the secret a header and a mask.
    (isTextThat(isKeyId)(getProperty(value, 'id')) && isTextThat(isKeySecret)(getProperty(value, 'secret'))),
  since: (value) => typeof value === 'number' && Math.abs(value) <= maxEpochMs,
  revoke: isBoolean,
  onFailure: (value) => onFailureValues.some((word) => word === value),
  summary: isBoolean,
};

/** The message names the invalid parts and quotes none, because a state holds a key. */
export class UnreadablePostState extends Error {
  constructor(parts: readonly string[]) {
    super(
      `the state that the main step saved is invalid (${parts.join(', ')}). Another step of this job may have overwritten it`,
    );
  }
}

/** Checks every part, because another step can forge a state. `isBaseUrl`: whether main would accept this `base-url`. */
export function parsePostState(saved: string, isBaseUrl: (text: string) => boolean): PostState {
  const state: unknown = parseJsonOrUndefined(splitSeal(saved).text);
  const all = { baseUrl: isTextThat(isBaseUrl), ...checks };
  const bad = Object.entries(all).flatMap(([part, check]) => (check(getProperty(state, part)) ? [] : [part]));
  if (bad.length > 0) throw new UnreadablePostState(bad);
  const { mayHaveStrayKey, minted, revoke } = state as PostState;
  // If there is nothing to revoke, main saves a marker instead.
  if (!mayHaveStrayKey && (minted === undefined || !revoke))
    throw new UnreadablePostState(['mayHaveStrayKey', 'minted', 'revoke']);
  return state as PostState;
}
