import { test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { setStage } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';

/** Valid UTF-16, because HTTP carries UTF-8, and short, so that all of it fits into an output. */
const texts = Object.values(attacks)
  .filter(({ length }) => length < 1_000)
  .map((attack) => attack.replace(/\p{Cs}/gu, ''));

test.concurrent('text of the service stays text in stdout, in the summary and in the output file of a process', async (context) => {
  const { expect } = context;
  const stage = await setStage(context, { overSockets: true, operations: 0 });
  const { plane } = stage.service;
  const fieldsOf = (text: string) => ({ action: text, branch_id: text, [text]: text });
  const ids = texts.flatMap((text) => {
    plane.addProject({ name: text, region_id: text, [text]: text });
    const failed = stage.operation({ lengthMs: 0, outcome: 'failed', fields: fieldsOf(text) });
    const unknown = stage.operation({ lengthMs: Number.POSITIVE_INFINITY, fields: { status: text } });
    return [failed.id, unknown.id];
  });

  const results = [
    await stage.runMode('list-projects', {}, { debug: true }),
    await stage.run({ 'operation-id': ids.join(' '), timeout: '0' }, { debug: true }),
  ];

  for (const result of results) expect(defectsOf(result)).toEqual([]);
  expect(results.map(({ outputs }) => outputs['status'])).toEqual(['ok', 'failed']);
  const [projects, operations] = ['projects', 'operations'].map((name, n) =>
    JSON.parse(results[n]?.outputs[name] ?? ''),
  );
  for (const text of texts) {
    expect(projects).toContainEqual(expect.objectContaining({ name: text, region_id: text }));
    expect(operations).toContainEqual(expect.objectContaining({ action: text, branch_id: text }));
  }
  const shown = new Set(results.flatMap(({ commands }) => commands.map(({ name }) => name)));
  expect([...shown].sort()).toEqual(['add-mask', 'debug', 'error', 'warning']);
});
