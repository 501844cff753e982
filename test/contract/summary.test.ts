import { expect, test } from 'vitest';
import { hang, lost, status } from '../kit/fault.js';
import { errorOf, resultFileOf } from '../kit/stage.js';
import { minute, second } from '../kit/times.js';
import { ended, expectAllEnd, expectEnd, failsIn, meets, patient } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

function tableOf({ summary }: StepResult): string[][] {
  const rows = summary.match(/<tr>.*?<\/tr>/gs) ?? [];
  const text = (cell: string) => cell.replace(/<[^>]*>/g, '').replaceAll('&nbsp;', ' ');
  return rows.map((row) => [...row.matchAll(/<t[hd]>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => text(cell)));
}

test.for(['error', 'error_message', 'message'])('the summary quotes the service’s %s', async (field, context) => {
  const plan = { ...failsIn(0), fields: { [field]: 'no space left' } };
  const { result } = await expectEnd(context, { status: 'failed', says: '“no space left”' }, [plan], patient);
  expect(tableOf(result)[1]?.at(-1)).toBe('“no space left”');
});

test.for([
  ['finished', { since: '90s' }, ['since 1m 30s']],
  ['empty', { 'fail-on': 'empty', filter: 'id!=x\nid!=*<*' }, ['since 1m', 'id!=x', 'id!=*&lt;*']],
] as const)('the summary of a wait with status %s names its project and criteria', async (row, context) => {
  const [status, inputs, criteria] = row;
  const { result, projectId } = await expectAllEnd(context, status, [], inputs);
  const codes = [projectId, ...criteria].map((text) => `<code>${text}</code>`).join(', ');
  expect(result.summary).toContain(`<p>Project ${codes}, waited 5`);
});

test('the summary of a wait has a table with failed operations first', async (context) => {
  const good = { ageMs: 65 * second, lengthMs: minute, branchId: 'br-good-1', fields: { message: 'all went well' } };
  const fields = { error: null, error_message: 'no <space> left', retry_at: '2024-01-01T00:05:00Z' };
  const bad = { ...failsIn(0), action: 'start_compute', branchId: 'br-bad-1', failuresCount: 7, fields };
  const end = { status: 'failed', says: /failures_count 7\), “no <space> left”, retry at 2024-01-01 00:05:00Z\. / };
  const { ids, result, projectId } = await expectEnd(context, end, [good, bad], patient);
  expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations failed\n\n<p>/);
  expect(result.summary).toMatch(/failed.*console/);
  expect(result.summary).toContain(`<p>Project <code>${projectId}</code>, waited 0ms.</p>`);
  const says = '“no &lt;space&gt; left”, retry at 2024-01-01 00:05:00Z';
  expect(tableOf(result)).toEqual([
    ['Status', 'Action', 'Branch', 'Duration', 'Operation', 'Failures', 'The service says'],
    ['❌ failed', 'start_compute', 'br-bad-1', '0ms', ids[1], '7', says],
    ['✅ finished', 'create_branch', 'br-good-1', '1m', ids[0], '', ''],
  ]);
});

test('the summary of a wait shows which operations are still pending at the deadline', async (context) => {
  const lasting = (word: string) => ({ course: [{ afterMs: 0, status: word }] as const, ageMs: second });
  const plans = [lasting('running'), lasting('scheduling'), ended];
  // Single requests replace the list that fails.
  const faults = [{ nth: 1, fault: status(503) }];
  const end = { status: 'timeout', count: 3, by: 0, says: /^Timed out after 10s\. 2 of 3 operations in project / };
  const { result, ids } = await expectEnd(context, end, plans, { timeout: '10s' }, { faults });
  expect(result.outputs).toMatchObject({ 'operation-ids': JSON.stringify(ids) });
  const statuses = JSON.parse(result.outputs['operations'] ?? '').map((one: { status: string }) => one.status);
  expect(statuses).toEqual(['running', 'scheduling', 'finished']);
  expect(JSON.parse(resultFileOf(result))).toMatchObject({ status: 'timeout' });
  const head = /^### ❌ wait-operation: 2 of 3 operations not finished in time\n\n<p><code>Timed out after 10s\. /;
  expect(result.summary).toMatch(head);
  const cells = (word: string) => [`⏳ ${word}`, 'create_branch', expect.any(String), '11s', expect.any(String)];
  expect(tableOf(result).slice(1, 3)).toEqual([cells('running'), cells('scheduling')]);
});

test('the summary of a wait has a row for an operation whose status was never reported', async (context) => {
  const says = /^(?!.*(raise timeout|may still finish)).*API did not answer in the last seconds for project/s;
  const end = { status: 'timeout', count: 2, by: 0, says };
  const { result, ids } = await expectEnd(context, end, [meets({}, hang), ended], { timeout: '20s' });
  expect(result.outputs['operation-ids']).toBe(JSON.stringify(ids));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ id: ids[1] }]);
  expect(tableOf(result)[1]).toEqual(['⏳ no status yet', '', '', '', ids[0]]);
});

test('the summary of a wait shows 50 of 300 operations, the failed ones first', async (context) => {
  const isBad = (n: number) => n >= 250 && n < 260;
  const plans = Array.from({ length: 300 }, (_, n) => ({
    ageMs: isBad(n) ? 0 : second,
    lengthMs: 0,
    outcome: isBad(n) ? 'failed' : 'finished',
    action: `action_${n}_${'a'.repeat(200)}`,
    branchId: `br-${n}-${'b'.repeat(200)}`,
  }));
  const { result, ids } = await expectEnd(context, { status: 'failed', count: 300 }, plans, patient);
  const failed = ids.slice(250, 260);
  const rows = tableOf(result).slice(1);
  expect(rows).toHaveLength(50);
  expect(rows.slice(0, 10).map((row) => row.at(-2))).toEqual(failed);
  expect(result.summary).toContain('And 250 more.');
  const named = failed.filter((id) => errorOf(result).includes(id));
  expect(named.length).toBeGreaterThan(0);
  const says = `^10 of 300 operations in project \\S+ failed: .*and ${10 - named.length} more`;
  expect(errorOf(result)).toMatch(new RegExp(says));
  expect(errorOf(result).length).toBeLessThan(4_096);
});

test('the summary of a wait shows records that have only an id and a status', async (context) => {
  const names = 'project_id branch_id endpoint_id action failures_count created_at updated_at total_duration_ms'.split(
    ' ',
  );
  const fields = Object.fromEntries(names.map((name) => [name, undefined]));
  const outcomes = ['finished', 'failed'];
  const plans = outcomes.map((outcome) => ({ ...ended, outcome, fields }));
  const { result, ids } = await expectEnd(context, { status: 'failed', by: 1 }, plans, patient);
  expect(result.outputs['operations']).toBe(JSON.stringify(ids.map((id, n) => ({ id, status: outcomes[n] }))));
  expect(tableOf(result)[2]).toEqual(['✅ finished', 'operation', '', '', ids[0]]);
  expect(result.log + result.summary).not.toMatch(/undefined|null|NaN|Invalid|1970/);
});

test('the log has a debug line for each request, but never a header or a body', async (context) => {
  const inHeader = status(503, { headers: { 'x-other': 'only-in-a-header' } });
  const plan = meets({ lengthMs: 300, fields: { note: 'only-in-the-body' } }, inHeader, { nth: 1 });
  const plans = [meets(plan, lost, { nth: 2 })];
  const { result, service } = await expectEnd(context, 'finished', plans, {}, { debug: true });
  const lines = result.commands.filter(({ name }) => name === 'debug').map(({ data }) => data);
  expect(lines).toHaveLength(service.requests.length);
  for (const line of lines) expect(line).toMatch(new RegExp(`^GET .*${service.requests[0]?.path}.*\\b\\d+ ms\\b`));
  expect(lines[0]).toMatch(/\b503\b.*req-\d+/);
  expect(lines[1]).toMatch(/connection|socket/i);
  expect(lines.at(-1)).toMatch(/\b200\b.*req-\d+/);
  expect(result.output).not.toMatch(/only-in|Bearer|authorization/i);
});
