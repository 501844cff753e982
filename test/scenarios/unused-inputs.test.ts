import { test } from 'vitest';
import { setStage, warningsOf } from './stage.js';

test.concurrent('inputs that do nothing here are ignored with one warning, whatever their values', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id, filter: 'nonsense', since: 'nonsense' });
  expect(result.conclusion).toBe('success');
  const warnings = warningsOf(result);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/ignored: (filter, since|since, filter)\./);
});

test.concurrent('what is as by default was not set', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({
    'operation-id': operation.id,
    'response-file': '',
    filter: '',
    'fail-on': '',
    timeout: '10m',
    'poll-interval': 'auto',
    'fail-fast': 'true',
    summary: 'true',
  });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toEqual([]);
});
