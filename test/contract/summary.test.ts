import { describe, expect, test } from 'vitest';
import { lost, retryAfter, status } from '../kit/fault.js';
import { setStage } from '../kit/stage.js';
import { all, ended, failedAtOnce, minute, second, waitFor } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

/** To the end of each operation. */
const patient = { 'fail-fast': 'false' };

/** The cells of each row, as text. */
function tableOf({ summary }: StepResult): string[][] {
  const rows = summary.match(/<tr>.*?<\/tr>/gs) ?? [];
  const text = (cell: string) => cell.replace(/<[^>]*>/g, '').replaceAll('&nbsp;', ' ');
  return rows.map((row) => [...row.matchAll(/<t[hd]>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => text(cell)));
}

function timelineOf({ summary }: StepResult): string[] {
  const [, bars = ''] =
    /\n```mermaid\ngantt\n {2}dateFormat x\n {2}axisFormat %H:%M:%S\n(.*?)\n```\n/s.exec(summary) ?? [];
  return bars.split('\n').map((line) => line.trim());
}

describe('the summary of a wait', () => {
  test('it has the outcome, what to do, a row for each operation with failed ones first, and a timeline in order of time', async (context) => {
    const good = { ageMs: 65 * second, lengthMs: minute, branchId: 'br-good-1' };
    const bad = { ...failedAtOnce, action: 'start_compute', branchId: 'br-bad-1', failuresCount: 7 };
    const { ids, result, projectId } = await waitFor(context, [good, bad], patient);
    expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations failed\n\n<p>/);
    expect(result.summary).toMatch(/Do not deploy on top of this/);
    expect(result.summary).toContain(`<p>Project <code>${projectId}</code>, waited 0ms.</p>`);
    expect(tableOf(result)).toEqual([
      ['Status', 'Action', 'Branch', 'Duration', 'Failures', 'Operation'],
      ['❌ failed', 'start_compute', 'br-bad-1', '0ms', '7', ids[1]],
      ['✅ finished', 'create_branch', 'br-good-1', '1m', '0', ids[0]],
    ]);
    const now = Date.UTC(2024, 0, 1);
    expect(timelineOf(result)).toEqual([
      `1 finished create_branch br-good-1 :done, ${now - 65 * second}, ${now - 5 * second}`,
      // A bar has at least 1 % of the width.
      `2 failed start_compute br-bad-1 :crit, ${now}, ${now + 650}`,
    ]);
  });

  test.for(['running', 'scheduling'])('at the deadline it shows what is %s, until now', async (status, context) => {
    const course = [{ afterMs: 0, status }] as const;
    const { result } = await waitFor(context, [{ course, ageMs: second }, { lengthMs: 0 }], { timeout: '10s' });
    expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations not finished in time/);
    expect(tableOf(result)[1]?.slice(0, 4)).toEqual([`⏳ ${status}`, 'create_branch', expect.any(String), '11s']);
    const [, from, to] = / :active, (\d+), (\d+)$/.exec(timelineOf(result)[0] ?? '') ?? [];
    expect(Number(to) - Number(from)).toBe(11 * second);
  });

  test('operations that ended when they began get a bar each, and one operation gets none', async (context) => {
    const { result } = await waitFor(context, [ended, ended]);
    const now = Date.UTC(2024, 0, 1);
    expect(timelineOf(result)).toEqual([1, 2].map((n) => expect.stringMatching(`^${n} .*, ${now}, ${now + 1}$`)));
    const one = await waitFor(context, [ended]);
    expect(one.result.summary).toMatch(/^### ✅ wait-operation: 1 operation finished\n/);
    expect(tableOf(one.result)[1]?.at(-1)).toBe(one.ids[0]);
    expect(one.result.summary).not.toContain('mermaid');
  });

  test('an operation that no response showed has a row, but no bar', async (context) => {
    const { result, ids } = await waitFor(context, [{}, {}], { timeout: '0' }, { faults: [{ fault: status(503) }] });
    expect(tableOf(result).slice(1)).toEqual(ids.map((id) => ['⏳ no status yet', '', '', '', '', id]));
    expect(result.summary).not.toContain('mermaid');
  });

  test('of 300 operations it shows failed ones and what fits in 64 KiB, 30 bars, and counts the rest', async (context) => {
    const plans = Array.from({ length: 300 }, (_, n) => ({
      lengthMs: 0,
      outcome: n === 250 ? 'failed' : 'finished',
      action: `action_${n}_${'a'.repeat(200)}`,
      branchId: `br-${n}-${'b'.repeat(200)}`,
    }));
    const { result, ids } = await waitFor(context, plans, patient);
    expect(result.outputs).toMatchObject({ status: 'failed', count: '300' });
    expect(Buffer.byteLength(result.summary)).toBeLessThan(64 * 1024);
    const rows = tableOf(result).slice(1);
    expect(rows.length).toBeGreaterThanOrEqual(20);
    expect(rows[0]?.at(-1)).toBe(ids[250]);
    expect(result.summary).toContain(`Not shown: ${300 - rows.length} succeeded.`);
    expect(timelineOf(result)).toHaveLength(30);
  });

  test('with nothing to wait for it names what failed before, without table and timeline', async (context) => {
    const { result, ids } = await waitFor(context, [{ ...failedAtOnce, ageMs: minute }], all);
    expect(result.summary).toMatch(/^### ✅ wait-operation: Nothing to wait for\n/);
    expect(result.summary).toContain(ids[0]);
    expect(result.summary).not.toMatch(/<table>|mermaid/);
  });

  test('records with an id and a status alone are shown as they are', async (context) => {
    const names = 'project_id branch_id endpoint_id action failures_count created_at updated_at'.split(' ');
    const fields = Object.fromEntries(names.map((name) => [name, undefined]));
    const outcomes = ['finished', 'failed'];
    const plans = outcomes.map((outcome) => ({ ...ended, outcome, fields }));
    const { result, ids } = await waitFor(context, plans, patient);
    const records = ids.map((id, n) => ({ id, status: outcomes[n] }));
    expect(result.outputs).toMatchObject({ 'operation-id': ids[1], operations: JSON.stringify(records) });
    expect(tableOf(result)[2]).toEqual(['✅ finished', 'operation', '', '', '', ids[0]]);
    expect(result.log + result.summary).not.toMatch(/undefined|null|NaN|Invalid|1970/);
  });
});

describe('the log', () => {
  test('it has a line for each exchange with step debug alone, and never a header or a body', async (context) => {
    const faults = [
      { nth: 1, fault: status(503, { headers: { 'x-other': 'only-in-a-header' } }) },
      { nth: 2, fault: lost },
    ];
    const plan = { lengthMs: 300, fields: { note: 'only-in-the-body' } };
    const { result, service } = await waitFor(context, [plan], {}, { debug: true, faults });
    expect(result.conclusion).toBe('success');
    const lines = result.commands.filter(({ name }) => name === 'debug').map(({ data }) => data);
    expect(lines).toHaveLength(service.requests.length);
    for (const line of lines) expect(line).toMatch(new RegExp(`^GET .*${service.requests[0]?.path}.*\\b\\d+ ms\\b`));
    expect(lines[0]).toMatch(/\b503\b.*req-\d+/);
    expect(lines[1]).toMatch(/connection|socket/i);
    expect(lines.at(-1)).toMatch(/\b200\b.*req-\d+/);
    expect(result.output).not.toMatch(/only-in|Bearer|authorization/i);

    const quiet = (await waitFor(context, [ended])).result;
    expect(quiet.commands.map(({ name }) => name)).toEqual(['add-mask']);
    expect(quiet.output).not.toMatch(/GET|req-\d/);
  });

  test('it says why a request is retried, and when', async (context) => {
    const { runMode, times } = await setStage(context, { faults: [{ nth: 1, fault: retryAfter(503, 1) }] });
    const { log } = await runMode('list-projects');
    const [, pause] = /GET \/v2\/projects: status 503.*\. Retrying in (\d+(?:\.\d)?)s\./.exec(log) ?? [];
    expect(times()[1]).toBeGreaterThanOrEqual(second);
    expect(Math.abs((times()[1] ?? 0) - Number(pause) * second)).toBeLessThanOrEqual(50);
  });
});
