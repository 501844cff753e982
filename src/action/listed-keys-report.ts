import { rowOf } from '../modes/keys/view.js';
import type { ListedKeys } from '../modes/list-keys.js';
import { printJson } from '../text/json.js';
import type { Ending } from './ending.js';
import { code, table } from './markdown.js';

const mostRows = 50;

export function listedKeysReport({ verdict, keys }: ListedKeys): Ending {
  const number = keys.length === 1 ? '1 key' : `${keys.length} keys`;
  const ids = keys.map(({ id }) => id);
  const records = keys.map(({ record }) => record);
  return {
    status: verdict,
    succeeded: verdict === 'ok',
    headline: number,
    error: verdict === 'ok' ? undefined : `filter admits ${number}; fail-on: ${verdict} fails the step.`,
    outputs: [
      { name: 'count', value: String(keys.length) },
      { name: 'key-ids', value: JSON.stringify(ids), rank: 2 },
      { name: 'keys', value: printJson(records), rank: 1, holdsRecords: true },
    ],
    result: printJson({ mode: 'list-keys', status: verdict, key_ids: ids, keys: records }),
    details: keys.length === 0 ? '' : tableOf(keys),
  };
}

function tableOf(keys: ListedKeys['keys']): string {
  const rows = keys.slice(0, mostRows).map(rowOf);
  const cells = rows.map(({ id, name, created, lastUsed }) => [id, name, created, lastUsed].map(code));
  const more = keys.length > mostRows ? `<p>And ${keys.length - mostRows} more.</p>\n` : '';
  return table(['Key', 'Name', 'Made', 'Last used'], cells) + more;
}
