import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setStage } from './stage.js';

test.concurrent('ids and filters with the line ends of Windows are read like others', async (context) => {
  const { service, projectId, run, runMode } = await setStage(context);
  const ended = [1, 2].map(() => service.plane.startOperation({ projectId, lengthMs: 0, branchId: 'br-main-1' }).id);

  const waited = await run({ 'operation-id': `${ended.join('\r\n')}\r\n` });
  const listed = await runMode('list-operations', {
    'project-id': projectId,
    filter: 'branch_id=br-main-*\r\nstatus=finished\r\n',
  });

  expect(JSON.parse(waited.outputs['operation-ids'] ?? '')).toEqual(ended);
  expect(listed.outputs['count']).toBe('2');
});

test.concurrent.for([
  ['UTF-8 with a mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
  ['UTF-16, as > of Windows PowerShell writes it', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
] as const)('a response file in %s is read', async ([, encoded], context) => {
  const { service, projectId, folder, run } = await setStage(context);
  const { id } = service.plane.startOperation({ projectId, lengthMs: 0 });
  const body = JSON.stringify({ operations: [{ id, project_id: projectId }] }, undefined, 2).replaceAll('\n', '\r\n');
  writeFileSync(join(folder, 'answer.json'), encoded(`${body}\r\n`));

  const result = await run({ 'response-file': join(folder, 'answer.json') });

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': id });
});
