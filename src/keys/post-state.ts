import { createHmac, timingSafeEqual } from 'node:crypto';
import { UserError } from '../http/errors.js';
import { nothingToRevoke } from './post-state-name.js';

export const onFailureValues = ['warn', 'fail'] as const;

export type KeyState = Omit<PostState, 'baseUrl' | 'summary'>;

export interface MintedKey {
  readonly id: string;
  /** Empty if the key is kept on purpose. */
  readonly secret: string;
  /** When main received the key, in milliseconds since 1970. `service`: undefined if no response had a `Date`. */
  readonly madeAt: { readonly runner: number; readonly service: number | undefined };
}

/** Main saves this before and after each create. So post can end the key even if main is killed. */
export interface PostState {
  readonly baseUrl: string;
  readonly name: string;
  /** Creates that may have made a key which main did not receive. */
  readonly lostCreates: number;
  readonly minted: MintedKey | undefined;
  readonly onFailure: (typeof onFailureValues)[number];
  readonly summary: boolean;
}

const sealLength = 64;

/** Another step can write a false state. Without the parent key it cannot sign one, and it cannot change the run id. */
function seal(text: string, parentKey: string, environment: NodeJS.ProcessEnv): Buffer {
  const { GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt } = environment;
  const hash = createHmac('sha256', parentKey).update(JSON.stringify([run, attempt, text]));
  return Buffer.from(hash.digest('hex'));
}

/** Returns the seal and then the state. Of a state without a key to revoke, only the marker is left. */
export function serializePostState(state: PostState, parentKey: string, environment: NodeJS.ProcessEnv): string {
  if (state.lostCreates === 0 && !state.minted?.secret) return nothingToRevoke;
  const text = JSON.stringify(state);
  return seal(text, parentKey, environment) + text;
}

export function isSealedWith(key: string, saved: string, environment: NodeJS.ProcessEnv): boolean {
  const given = Buffer.from(saved.slice(0, sealLength));
  const expected = seal(saved.slice(sealLength), key, environment);
  // `timingSafeEqual` throws if the lengths differ.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function parsePostState(saved: string): PostState {
  try {
    const state = JSON.parse(saved.slice(sealLength)) as PostState;
    new URL(state.baseUrl);
    return state;
  } catch {
    // The error of the parser quotes the state, which contains a key.
    throw new UserError(
      'the state that the main step saved cannot be read. Another step of this job may have changed it',
    );
  }
}
