import type { Key } from '../api/keys.js';
import { plain } from '../text/plain.js';
import { momentOf } from './moment.js';

/**
 * A key in the summary. Texts are sanitized, and network addresses left out, because summaries of public repositories
 * are public.
 */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly lastUsed: string;
}

export function keyRowOf(key: Key): KeyRow {
  return {
    id: key.id,
    name: plain(key.name ?? '', 80),
    created: momentOf(key, 'created_at'),
    lastUsed: momentOf(key, 'last_used_at'),
  };
}
