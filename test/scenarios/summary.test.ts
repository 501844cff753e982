import { test } from 'vitest';
import { renderMarkdown } from '../runner/summary-page.js';
import { setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('a summary tells the verdict and a row an operation', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const good = service.plane.startOperation({ projectId, ageMs: 65_000, lengthMs: 60_000, branchId: 'br-good-1' });
  const bad = service.plane.startOperation({
    projectId,
    lengthMs: 0,
    outcome: 'failed',
    action: 'start_compute',
    branchId: 'br-bad-1',
    failuresCount: 7,
  });
  const result = await run({ 'operation-id': `${good.id},${bad.id}`, 'fail-fast': 'false' });

  const html = renderMarkdown(result.summary);
  expect(html).toMatch(/^<h3>❌ wait-operation: 1 of 2 operations failed<\/h3>/);
  expect(html).toContain(projectId);
  const rows = (html.match(/<tr>.*?<\/tr>/gs) ?? []).map((row) =>
    [...row.matchAll(/<t[hd]>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
      cell.replace(/<[^>]*>/g, '').replaceAll('&nbsp;', ' '),
    ),
  );
  expect(rows).toEqual([
    ['Status', 'Action', 'Branch', 'Length', 'Failures', 'Operation'],
    ['❌ failed', 'start_compute', 'br-bad-1', '0ms', '7', bad.id],
    ['✅ finished', 'create_branch', 'br-good-1', '1m', '0', good.id],
  ]);
  // What to do stands where somebody reads it first.
  expect(html).toMatch(/Do not deploy on top of this/);
  const gantt = /<pre class="mermaid">([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '';
  expect(gantt).toMatch(/^gantt\n/);
  expect(gantt).toMatch(/1 finished create_branch br-good-1 :done, \d+, \d+/);
  expect(gantt).toMatch(/2 failed start_compute br-bad-1 :crit, \d+, \d+/);
});

test.concurrent('one operation needs no picture', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id });
  expect(result.summary).toMatch(/^### ✅ wait-operation: 1 operation finished/);
  expect(result.summary).toContain(operation.id);
  expect(result.summary).not.toContain('mermaid');
});

test.concurrent('summary: false writes none', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' });
  const result = await run({ 'operation-id': operation.id, summary: 'FALSE' });
  expect(result.conclusion).toBe('failure');
  expect(result.summary).toBe('');
});

test.concurrent('of hundreds of operations it tells what fits, those that matter first, and a count of the rest', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const long = (n: number) => ({ action: `action_${n}_${'a'.repeat(200)}`, branchId: `br-${n}-${'b'.repeat(200)}` });
  const ids = Array.from({ length: 300 }, (_, n) =>
    service.plane.startOperation({ projectId, lengthMs: 0, outcome: n === 250 ? 'failed' : 'finished', ...long(n) }),
  ).map(({ id }) => id);
  const result = await run({ 'operation-id': ids.join('\n'), 'fail-fast': 'false' });

  expect(result.outputs).toMatchObject({ status: 'failed', count: '300' });
  expect(Buffer.byteLength(result.summary)).toBeLessThan(64 * 1024);
  expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 300 operations failed/);
  const shown = (result.summary.match(/<tr>/g)?.length ?? 0) - 1;
  expect(shown).toBeGreaterThanOrEqual(20);
  expect(result.summary).toMatch(new RegExp(`Not shown: ${300 - shown} succeeded`));
  expect(result.summary.indexOf(ids[250] ?? '')).toBeGreaterThan(0);
  expect(result.summary).toContain('```mermaid\ngantt\n');
});

test.concurrent('nothing to wait for has a summary too', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const recent = service.plane.startOperation({ projectId, ageMs: 60_000, lengthMs: 0, outcome: 'failed' });
  const result = await run({ 'operation-id': 'all' });
  expect(result.summary).toMatch(/^### ✅ wait-operation: Nothing to wait for/);
  expect(result.summary).toContain(recent.id);
  expect(result.summary).not.toMatch(/<table>|mermaid/);
});

test.concurrent('a summary comes after those of other steps, and a file that cannot be written is only warned of', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id }, { env: { GITHUB_STEP_SUMMARY: '/nowhere/summary.md' } });
  expect(result.conclusion).toBe('success');
  expect(result.annotations).toMatchObject([{ kind: 'warning', message: expect.stringMatching(/summary/) }]);
});

test.concurrent('a wait that met its deadline shows what is pending', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const ids = [never, 0].map((lengthMs) => service.plane.startOperation({ projectId, lengthMs }).id);
  const result = await run({ 'operation-id': ids.join(','), timeout: '0' });
  expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations not finished in time/);
  expect(result.summary).toMatch(/⏳(?: |&nbsp;)<code>(scheduling|running)<\/code>/);
  expect(result.summary).toMatch(/:active, \d+, \d+\n/);
});

test.concurrent('records that hold no more than an id and a status are told as they are', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const none = undefined;
  const bare = { project_id: none, branch_id: none, endpoint_id: none, action: none, failures_count: none };
  const timeless = { ...bare, created_at: none, updated_at: none };
  const [good, bad] = ['finished', 'failed'].map((outcome) =>
    service.plane.startOperation({ projectId, lengthMs: 0, outcome, fields: timeless }),
  );
  const result = await run({ 'operation-id': `${good?.id},${bad?.id}`, 'fail-fast': 'false' });
  expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': bad?.id });
  expect(result.outputs['operations']).toBe(
    JSON.stringify([
      { id: good?.id, status: 'finished' },
      { id: bad?.id, status: 'failed' },
    ]),
  );
  expect(result.summary).toContain(good?.id);
  expect(result.log + result.summary).not.toMatch(/undefined|null|NaN|Invalid|1970/);
});
