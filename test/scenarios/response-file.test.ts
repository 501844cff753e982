import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { Job } from '../runner/job.js';
import { errorOf, noticesOf, setStage } from './stage.js';

test.concurrent('the operations of an answer are waited for, and nothing else of it is told', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const [one, two, three] = Array.from({ length: 3 }, () => service.plane.startOperation({ projectId, lengthMs: 300 }));
  const job = new Job();
  mkdirSync(join(job.workspace, 'out'));
  const answer = {
    branch: { name: 'hunter2-branch' },
    connection_uris: [{ connection_uri: 'postgres://u:hunter2@host/db' }],
    operations: [
      { id: one?.id, project_id: projectId, action: 'hunter2-action' },
      { id: two?.id.toUpperCase() },
      { id: one?.id },
    ],
    operation: { id: three?.id, project_id: projectId },
  };
  writeFileSync(join(job.workspace, 'out', 'answer.json'), `\uFEFF${JSON.stringify(answer)}\n`);

  const result = await run({ 'response-file': 'out/answer.json' }, { job });

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({
    count: '3',
    'operation-ids': JSON.stringify([one?.id, two?.id, three?.id]),
  });
  const told = [result.output, result.summary, ...Object.values(result.outputs)].join('\n');
  expect(told + result.readFile(result.outputs['result-file'] ?? '')).not.toContain('hunter2');
});

test.concurrent('an answer with one operation, by an absolute path', async (context) => {
  const { expect } = context;
  const { service, projectId, folder, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' });
  const path = join(folder, 'answer.json');
  writeFileSync(path, JSON.stringify({ operation: { id: operation.id, status: 'finished' } }));
  const result = await run({ 'response-file': path });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '1', 'operation-id': operation.id });
});

test.concurrent('no operations in the answer is success with a notice', async (context) => {
  const { expect } = context;
  const { service, folder, run } = await setStage(context);
  const path = join(folder, 'answer.json');
  writeFileSync(path, '{"operations": []}');
  const result = await run({ 'response-file': path });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' });
  expect(noticesOf(result)).toHaveLength(1);
  expect(service.requests).toEqual([]);
});

test.concurrent('a file that cannot be used is an error that names it and shows nothing of it', async (context) => {
  const { expect } = context;
  const { service, folder, run } = await setStage(context);
  const path = join(folder, 'answer.json');
  writeFileSync(path, '{"code":"hunter2","message":"hunter2"}');
  const result = await run({ 'response-file': path });
  expect(result.conclusion).toBe('failure');
  expect(errorOf(result)).toMatch(/^Bad input: response-file: .*contains no operations/);
  expect(errorOf(result)).toContain(path);
  expect(result.output + result.summary).not.toContain('hunter2');
  expect(service.requests).toEqual([]);
});
