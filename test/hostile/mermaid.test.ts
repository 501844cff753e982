import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harm } from './harm.js';
import { projectId, step } from './in-process.js';
import { attacks, json, text } from './texts.js';

const words = [
  'end',
  'section x',
  'title x',
  'done',
  'crit',
  'milestone',
  'click 1 href "https://evil.example"',
  'call x()',
];
const label = fc.oneof(
  text.map((written) => JSON.stringify(written)),
  fc.constantFrom(...words).map((word) => JSON.stringify(word)),
  json,
);
const moment = fc.oneof(
  fc.integer({ min: 0, max: 253_402_300_799_999 }).map((ms) => JSON.stringify(new Date(ms).toISOString())),
  fc.constantFrom('"0000-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', '"2024-01-01T00:00:00+99:99"', '1', '1e400'),
);

/** Lines that are one whole picture, with nothing that the service could have added. */
const picture =
  /^```mermaid\ngantt\n {2}dateFormat x\n {2}axisFormat %H:%M:%S\n(?: {2}\d{1,2}(?: [A-Za-z0-9_. -]{1,122})? :(?:done|crit|active), \d{1,15}, \d{1,15}\n){2,30}```\n*$/;

test('whatever the names and the times, a picture holds a bar for each operation and nothing else', async () => {
  const operation = fc.record({
    action: label,
    branch_id: label,
    status: fc.constantFrom('"finished"', '"failed"', '"running"', '"click"'),
    created_at: moment,
    updated_at: moment,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 40 }), async (all) => {
      const body = all.map((fields, n) => {
        const written = Object.entries(fields).map(([name, value]) => `"${name}":${value}`);
        return `{"id":"operation-${n}",${written}}`;
      });
      let n = 0;
      // At first each of them runs, so that all are waited for.
      const service = () => ({
        body: `{"operations":[${n++ === 0 ? all.map((_, at) => `{"id":"operation-${at}","status":"running"}`) : body}]}`,
      });
      const inputs = { mode: 'wait-operation', 'project-id': projectId, 'operation-id': 'all', 'fail-fast': 'false' };
      const told = await step(inputs, service);
      expect(harm(told, told.succeeded)).toEqual([]);
      const from = told.summary.indexOf('\n```mermaid') + 1;
      if (from > 0) expect(told.summary.slice(from)).toMatch(picture);
    }),
    { numRuns: 60 },
  );
});

test.each(Object.entries(attacks))('%s as action and branch leaves a picture', async (_, written) => {
  const operation = { status: 'failed', created_at: '2024-01-01T00:00:00Z', updated_at: '2024-01-01T00:00:09Z' };
  const records = ['a', 'b'].map((id) => ({ id, ...operation, action: written, branch_id: written }));
  let n = 0;
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': 'all' }, () => ({
    body: JSON.stringify({ operations: records.map((one) => (n++ < 2 ? { ...one, status: 'running' } : one)) }),
  }));
  expect(harm(told, false)).toEqual([]);
  expect(told.summary.slice(told.summary.indexOf('\n```mermaid') + 1)).toMatch(picture);
});
