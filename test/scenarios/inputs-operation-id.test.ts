import { test } from 'vitest';
import { errorOf, noticesOf, setStage } from './stage.js';

test.concurrent('ids stand between commas, blanks and lines, in any case, and each counts once', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operations = Array.from({ length: 3 }, () => service.plane.startOperation({ projectId, lengthMs: 0 }));
  const [a = '', b = '', c = ''] = operations.map(({ id }) => id);

  const written = await run({ 'operation-id': `${a},${b.toUpperCase()}\n  ${c} ${a}` });
  expect(written.conclusion).toBe('success');
  expect(written.outputs).toMatchObject({ count: '3', 'operation-ids': JSON.stringify([a, b, c]) });

  const array = await run({ 'operation-id': JSON.stringify([a, b, c]) });
  expect(array.conclusion).toBe('success');
  expect(array.outputs).toMatchObject({ count: '3', 'operation-ids': JSON.stringify([a, b, c]) });
});

test.concurrent('an empty list that is given is success with a notice', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': '[]' });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({
    status: 'finished',
    count: '0',
    'operation-id': '',
    'operation-ids': '[]',
    operations: '[]',
  });
  expect(noticesOf(result)).toMatchObject([expect.stringMatching(/list of operation ids is empty/)]);
  expect(service.requests).toEqual([]);
});

test.concurrent('an empty list that is given fails the step with fail-on: empty', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': '[]', 'fail-on': 'empty' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'empty', count: '0', 'operation-ids': '[]' });
  expect(errorOf(result)).toMatch(/The list of operation ids is empty.*fail-on: empty/);
  expect(service.requests).toEqual([]);
});

test.concurrent('an expression that gives nothing does not open the gate', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': '' });
  expect(result.conclusion).toBe('failure');
  expect(errorOf(result)).toMatch(/operation-id: is empty.*expression without a value.*skipped step/);
  expect(errorOf(result)).toMatch(/word all for every unfinished operation/);
  expect(service.requests).toEqual([]);
});

test.concurrent('a JSON object gets a pointer to response-file, and is not shown', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': '{"connection_uris":["postgres://u:hunter2@host"],"operations":[]}' });
  expect(errorOf(result)).toMatch(/operation-id: is a JSON object.*response-file/);
  expect(result.output + result.summary).not.toContain('hunter2');
  expect(service.requests).toEqual([]);
});

test.concurrent('both operation-id and response-file is one too many', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': '[]', 'response-file': 'answer.json' });
  expect(errorOf(result)).toMatch(/operation-id: .*response-file; expected only one of them/);
  expect(service.requests).toEqual([]);
});

test.concurrent('what a broken jq leaves is refused by name', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': 'null', 'project-id': 'undefined' });
  expect(errorOf(result)).toMatch(/operation-id: “null” .*failed jq/);
  expect(errorOf(result)).toMatch(/project-id: “undefined” .*failed jq/);
  expect(service.requests).toEqual([]);
});
