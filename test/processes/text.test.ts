import { test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { setStage } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';

/** Valid UTF-16, because HTTP carries UTF-8, and short, so that all of it fits into an output. */
const texts = Object.values(attacks)
  .filter(({ length }) => length < 1_000)
  .map((attack) => attack.replace(/\p{Cs}/gu, ''));

test.concurrent('a process writes hostile text of the service as text to stdout, summary and outputs', async (context) => {
  const { expect } = context;
  const stage = await setStage(context, { overSockets: true, operations: 0 });
  const ids = texts.flatMap((text) => {
    const fields = { action: text, branch_id: text, [text]: text };
    const failed = stage.operation({ lengthMs: 0, outcome: 'failed', fields });
    const unknown = stage.operation({ lengthMs: Number.POSITIVE_INFINITY, fields: { status: text } });
    return [failed.id, unknown.id];
  });

  const result = await stage.run({ 'operation-id': ids.join(' '), timeout: '0' }, { debug: true });

  expect(defectsOf(result)).toEqual([]);
  const operations = JSON.parse(result.outputs['operations'] ?? '');
  for (const text of texts)
    expect(operations).toContainEqual(expect.objectContaining({ action: text, branch_id: text, [text]: text }));
  const shown = new Set(result.commands.map(({ name }) => name));
  expect([...shown].sort()).toEqual(['add-mask', 'debug', 'error', 'warning']);
});
