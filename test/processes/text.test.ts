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
  const inputs = { 'project-id': stage.projectId };
  for (const text of texts) {
    plane.addProject({ name: text, region_id: text, [text]: text });
    plane.addKey(text);
    stage.operation({ lengthMs: Number.POSITIVE_INFINITY, fields: { ...fieldsOf(text), status: text } });
  }
  const failed = texts.map((text) => stage.operation({ lengthMs: 0, outcome: 'failed', fields: fieldsOf(text) }).id);

  const results = [
    await stage.runMode('list-projects', {}, { debug: true }),
    await stage.runMode('list-keys', {}, { debug: true }),
    await stage.runMode('list-operations', inputs, { debug: true }),
    await stage.runMode('wait-operation', { ...inputs, 'operation-id': failed.join(' ') }, { debug: true }),
    await stage.runMode('wait-operation', { ...inputs, 'operation-id': 'all', timeout: '0' }, { debug: true }),
  ];

  for (const result of results) expect(defectsOf(result)).toEqual([]);
  expect(results.map(({ outputs }) => outputs['status'])).toEqual(['ok', 'ok', 'ok', 'failed', 'timeout']);
  const [projects, keys, operations] = ['projects', 'keys', 'operations'].map((name, n) =>
    JSON.parse(results[n]?.outputs[name] ?? ''),
  );
  for (const text of texts) {
    expect(projects).toContainEqual(expect.objectContaining({ name: text, region_id: text }));
    expect(keys).toContainEqual(expect.objectContaining({ name: text }));
    expect(operations).toContainEqual(expect.objectContaining({ action: text, branch_id: text }));
  }
  const shown = new Set(results.flatMap(({ commands }) => commands.map(({ name }) => name)));
  expect([...shown].sort()).toEqual(['add-mask', 'debug', 'error', 'warning']);
});
