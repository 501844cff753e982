import { field, type Recorded } from '../api/records.js';
import { plain } from '../text/plain.js';

/** Formats a time of the record to the second: `2026-01-31 09:30:00Z`. */
export function momentOf(recorded: Recorded, name: string): string {
  return plain(field(recorded, name) ?? '', 40).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?/, '$1 $2');
}
