import { createHmac, timingSafeEqual } from 'node:crypto';
import { isKeyId, isKeySecret } from '../api/keys.js';
import { UserError } from '../http/errors.js';
import { proxyVariables } from '../http/proxy.js';
import { isObject, isText, type Json, parseJsonOrUndefined } from '../text/json.js';
import { parseKeyName } from './key-name.js';
import type { nothingToRevoke } from './post-state-name.js';

/** The part of the post state that create-key provides. */
export type KeyState = Omit<PostState, 'baseUrl' | 'since' | 'summary'> | typeof nothingToRevoke;

/** The main step saves this state for the post step. Post can revoke the key even if main is killed during the request. */
export interface PostState {
  readonly baseUrl: string;
  readonly name: string;
  /** Number of ambiguous creates for which main found no key. */
  readonly openCreates: number;
  /** Ids of the keys that main found after ambiguous creates, and began to revoke. */
  readonly foundKeyIds: readonly string[];
  /** Ids of the found keys whose revocation no response confirmed. Post revokes them by id, because a list may lack them. */
  readonly unconfirmedKeyIds: readonly string[];
  /** Undefined if the main step never received a key. */
  readonly minted: { readonly id: string; readonly secret: string } | undefined;
  /** Time at which main saved the state, in milliseconds since 1970. If there is a minted key, main had just received it. */
  readonly since: number;
  /** False if the minted key is kept on purpose. */
  readonly revoke: boolean;
  readonly onFailure: (typeof onFailureValues)[number];
  readonly summary: boolean;
}

/** True if main sent a create that may have made a key which main did not receive. */
export function isAmbiguous({ openCreates, foundKeyIds }: Pick<PostState, 'openCreates' | 'foundKeyIds'>): boolean {
  return openCreates > 0 || foundKeyIds.length > 0;
}

export const onFailureValues = ['warn', 'fail'] as const;

/** Seals the state with the parent key. Post sends the parent key only if the seal is valid. */
export function serializePostState(state: PostState, parentKey: string, context: string): string {
  const text = JSON.stringify(state);
  return `${seal(text, parentKey, context)}${text}`;
}

/** True if the state was sealed with `key`, in the same context, and was not changed afterwards. */
export function isSealed(saved: string, key: string, context: string): boolean {
  const found = splitSeal(saved);
  const [given, expected] = [Buffer.from(found.seal), Buffer.from(seal(found.text, key, context))];
  // `timingSafeEqual` throws if the lengths differ.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Another step can set these variables for post. With its own proxy and certificate authority, it could read the parent key. */
const routeVariables = [
  ...proxyVariables,
  ...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF'],
  ...['LOCALDOMAIN', 'RES_OPTIONS', 'HOSTALIASES'],
];

/** What the seal covers besides the state. A step cannot change the run id and the attempt of other steps. */
export function sealContext(environment: Readonly<Record<string, string | undefined>>): string {
  const run = `${environment['GITHUB_RUN_ID'] ?? ''}/${environment['GITHUB_RUN_ATTEMPT'] ?? ''}`;
  const route = routeVariables.flatMap((name) => (environment[name] ? [`${name}=${environment[name]}`] : []));
  return [run, ...route].join('\n');
}

function seal(text: string, key: string, context: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([context, text]))
    .digest('hex');
}

/** Splits a saved state: the seal comes first, then the sealed JSON object. */
export function splitSeal(saved: string): { readonly seal: string; readonly text: string } {
  const at = Math.max(0, saved.indexOf('{'));
  return { seal: saved.slice(0, at), text: saved.slice(at) };
}

/** Checks each field, because another step can forge a state. `isBaseUrl`: true for a URL that main would accept. */
export function parsePostState(saved: string, isBaseUrl: (text: string) => boolean): PostState {
  const json = parseJsonOrUndefined(splitSeal(saved).text);
  const state = isObject(json) ? json : {};
  const { baseUrl, name, openCreates, foundKeyIds, unconfirmedKeyIds, minted, since, revoke, onFailure, summary } =
    state;
  const { id, secret } = isObject(minted) ? minted : {};
  const areKeyIds = (ids: Json | undefined) => Array.isArray(ids) && ids.every((id) => isText(id) && isKeyId(id));
  const valid: Readonly<Record<keyof PostState, boolean>> = {
    baseUrl: isText(baseUrl) && isBaseUrl(baseUrl),
    name: isText(name) && parseKeyName(name) !== undefined,
    openCreates: typeof openCreates === 'number' && openCreates >= 0,
    foundKeyIds: areKeyIds(foundKeyIds),
    unconfirmedKeyIds: areKeyIds(unconfirmedKeyIds),
    // The id goes into a URL path, and the secret into a header.
    minted: minted === undefined || (isText(id) && isKeyId(id) && isText(secret) && isKeySecret(secret)),
    since: typeof since === 'number',
    revoke: typeof revoke === 'boolean',
    onFailure: onFailureValues.some((word) => word === onFailure),
    summary: typeof summary === 'boolean',
  };
  const invalid = Object.entries(valid).flatMap(([field, isValid]) => (isValid ? [] : [field]));
  // A state with nothing to revoke is invalid, because main would have saved a marker in its place.
  if (invalid.length === 0) {
    const checked = state as unknown as PostState;
    if (isAmbiguous(checked) || (minted !== undefined && revoke)) return checked;
    invalid.push('openCreates', 'minted', 'revoke');
  }
  // The message quotes no value, because the state contains a key.
  const problem = `the state that the main step saved is invalid (${invalid.join(', ')}). Another step of this job may have overwritten the state`;
  throw new UserError(problem);
}
