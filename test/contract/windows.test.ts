import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setStage } from '../kit/stage.js';

test('ids and filters with the line ends of Windows are read like others', async (context) => {
  const { operation, projectId, run, runMode } = await setStage(context);
  const ids = [1, 2].map(() => operation({ lengthMs: 0, branchId: 'br-main-1' }).id);

  const waited = await run({ 'operation-id': `${ids.join('\r\n')}\r\n` });
  const filter = 'branch_id=br-main-*\r\nstatus=finished\r\n';
  const listed = await runMode('list-operations', { 'project-id': projectId, filter });

  expect(JSON.parse(waited.outputs['operation-ids'] ?? '')).toEqual(ids);
  expect(listed.outputs['count']).toBe('2');
});

test.for([
  ['UTF-8 with a byte order mark', 'utf8'],
  ['UTF-16, as > of Windows PowerShell writes it,', 'utf16le'],
] as const)('a response file in %s is read', async ([, encoding], context) => {
  const { operation, projectId, folder, run } = await setStage(context);
  const { id } = operation({ lengthMs: 0 });
  const body = JSON.stringify({ operations: [{ id, project_id: projectId }] }, undefined, 2).replaceAll('\n', '\r\n');
  writeFileSync(join(folder, 'response.json'), `\uFEFF${body}\r\n`, encoding);

  const result = await run({ 'response-file': join(folder, 'response.json') });

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': id });
});
