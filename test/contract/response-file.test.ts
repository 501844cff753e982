import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Inputs, operationId as one, rejectInputs } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, setStage, staged } from '../kit/stage.js';
import { Job } from '../runner/job.js';
import type { StepResult } from '../runner/step.js';

const two = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';

const respond = (path: string) => `{"operation":{"id":"${path.split('/').at(-1)}","status":"finished"}}`;

function write({ folder }: Stage, bytes: string): Inputs {
  const path = join(folder, 'response.json');
  writeFileSync(path, bytes);
  return { 'project-id': 'p', 'operation-id': '', 'response-file': path };
}

function shown(result: StepResult): string {
  const path = result.outputs['result-file'] ?? '';
  const file = path === '' ? '' : result.readFile(path);
  return [result.output, result.summary, ...Object.values(result.outputs), file].join('\n');
}

staged('wait-operation finds response-file in the workspace, and reads only ids from it', async ({ stage }) => {
  const [id, other] = [1, 2].map(() => stage.operation({ lengthMs: 300 }).id);
  const job = new Job();
  const body = {
    connection_uris: [{ connection_uri: 'postgres://u:hunter2@host/db' }],
    operations: [{ id, project_id: stage.projectId, action: 'hunter2-action', status: 'failed' }],
    operation: { id: other?.toUpperCase() },
  };
  // The name could be that of an expression.
  writeFileSync(join(job.workspace, 'steps.json'), JSON.stringify(body));
  const result = await stage.run({ 'response-file': 'steps.json' }, { job });
  const ids = JSON.stringify([id, other]);
  expect(result.outputs).toMatchObject({ status: 'finished', count: '2', 'operation-ids': ids });
  expect(shown(result)).not.toContain('hunter2');
});

test.for<readonly [found: string, what: string, bytes: string, ids: readonly string[]]>([
  ['two ids', '`operations`', `{"operations":[{"id":"${one}"},{"id":"${two}"}]}`, [one, two]],
  ['one id', '`operation`', `{"operation":{"id":"${one}","project_id":"p"}}`, [one]],
  [
    'two ids',
    '`operation` and `operations`',
    `{"operation":{"id":"${two}"},"operations":[{"id":"${one}"}]}`,
    [one, two],
  ],
  ['one id', 'null as project_id', `{"operation":{"id":"${one}","project_id":null},"project_id":null}`, [one]],
  ['no ids', 'an empty list', '{"operations":[]}', []],
  ['one id', 'a bare array of operations', `[{"id":"${one}","status":"running"}]`, [one]],
  ['one id', 'a UTF-8 byte order mark', `\uFEFF{"operations":[{"id":"${one}"}]}\r\n`, [one]],
])('wait-operation reads %s from a response-file with %s', async ([, , bytes, ids], context) => {
  const stage = await setStage(context, { respond });
  const result = await stage.run(write(stage, bytes));
  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-ids': JSON.stringify(ids) });
  expect(stage.paths()).toHaveLength(ids.length);
  expect(noticesOf(result)).toHaveLength(ids.length === 0 ? 1 : 0);
});

const operations = `"operations":[{"id":"${one}"}]`;
staged.for<readonly [what: string, text: string, message: RegExp]>([
  ['HTTP headers before the body', 'HTTP/2 200\n\n{"hunter2":1}', /not JSON.*without -i/],
  ['a truncated body', '{"hunter2":1', /not JSON/],
  ['an error response', '{"code":"hunter2","message":"hunter2"}', /contains no operations.*fail-with-body/],
  ['an error beside an empty list', '{"error":"hunter2","operations":[]}', /an error and no operations/],
  ['a text as operations', '{"operations":"hunter2"}', /contains no operations.*operation-id: all/],
  ['a record without id', `{"operations":[{"id":"${one}"},{"hunter2":1}]}`, /has no UUID in operations\[1\]\.id/],
  ['an id that is not a UUID', '{"operation":{"id":"hunter2"}}', /has no UUID in operation\.id/],
  [
    'an operation of another project',
    `{"operation":{"id":"${one}","project_id":"hunter2"}}`,
    /project \(operation\.project_id\).*operation-id: all/,
  ],
])('wait-operation rejects a response-file with %s, and hides its values', async ([, body, message], { stage }) => {
  const result = await rejectInputs(stage, 'wait-operation', write(stage, body));
  expect(errorOf(result)).toMatch(/^Bad input: response-file: “[^”]+” /);
  expect(errorOf(result)).toMatch(message);
  expect(shown(result)).not.toContain('hunter2');
});

test('wait-operation rejects a response-file that is missing, larger than 8 MiB, or JSON in place of a path', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  const huge = write(stage, '');
  truncateSync(String(huge['response-file']), 8 * 1024 * 1024 + 1);
  const missing = /cannot be read \(ENOENT, looked for “(\/|[A-Z]:\\)\S+[\\/]workspace[\\/]none”\); expected a file/;
  for (const [path, message] of [
    ['none', missing],
    [`{${operations}}`, /^Bad input: response-file: is JSON; expected the path of a file/],
    [huge['response-file'], /not a regular file of at most 8 MiB/],
  ] as const) {
    const result = await rejectInputs(stage, 'wait-operation', { ...huge, 'response-file': path });
    expect(errorOf(result)).toMatch(message);
  }
});
