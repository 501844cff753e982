import { test } from 'vitest';
import { attacks } from '../kit/hostile-values.js';
import { setStage } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';

/** Valid UTF-16, because HTTP carries UTF-8. */
const everything = Object.values(attacks)
  .join('\n')
  .replace(/\p{Cs}/gu, '');

test.concurrent('text of the service stays text in stdout, in the summary and in the output file of a process', async (context) => {
  const { expect } = context;
  const stage = await setStage(context, { overSockets: true, operations: 0, projects: 0 });
  const { plane } = stage.service;
  const id = plane.addProject({ name: everything, region_id: everything, [everything]: everything }).id;
  const fields = { action: everything, branch_id: everything };
  const failed = stage.operation({ projectId: id, lengthMs: 0, outcome: 'failed', fields });
  stage.operation({ projectId: id, lengthMs: Number.POSITIVE_INFINITY, fields: { ...fields, status: everything } });
  plane.addKey(everything);

  const inputs = { 'project-id': id };
  const results = [
    await stage.runMode('list-projects', {}, { debug: true }),
    await stage.runMode('list-keys', {}, { debug: true }),
    await stage.runMode('list-operations', inputs, { debug: true }),
    await stage.runMode('wait-operation', { ...inputs, 'operation-id': failed.id }, { debug: true }),
    await stage.runMode('wait-operation', { ...inputs, 'operation-id': 'all', timeout: '0' }, { debug: true }),
  ];

  for (const result of results) expect(defectsOf(result)).toEqual([]);
  expect(results.map(({ outputs }) => outputs['status'])).toEqual(['ok', 'ok', 'ok', 'failed', 'timeout']);
  const [projects, keys, operations] = ['projects', 'keys', 'operations'].map((name, n) =>
    JSON.parse(results[n]?.outputs[name] ?? ''),
  );
  expect(projects).toMatchObject([{ id, name: everything, [everything]: everything }]);
  expect(keys).toContainEqual(expect.objectContaining({ name: everything }));
  expect(operations).toContainEqual(expect.objectContaining(fields));
  const shown = new Set(results.flatMap(({ commands }) => commands.map(({ name }) => name)));
  expect([...shown].sort()).toEqual(['add-mask', 'debug', 'error', 'warning']);
});
