import type { Key } from '../../api/keys.js';
import { field } from '../../api/records.js';
import { plain } from '../../text/plain.js';

/** A key as a reader of the summary sees it: plain text, and no address, as summaries of public repositories are public. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly lastUsed: string;
}

export function rowOf(key: Key): KeyRow {
  return {
    id: key.id,
    name: plain(key.name ?? '', 80),
    created: moment(key, 'created_at'),
    lastUsed: moment(key, 'last_used_at'),
  };
}

/** To the second: `2026-01-31 09:30:00Z`. */
function moment(key: Key, name: 'created_at' | 'last_used_at'): string {
  return plain(field(key, name) ?? '', 40).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?/, '$1 $2');
}
