import { describe, expect, type TestContext, test } from 'vitest';
import type { Operation, OperationPlan } from '../control-plane/index.js';
import { type Stage, type StageOptions, setStage } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { renderMarkdown } from '../runner/summary-page.js';

const second = 1_000;

interface Wait extends Stage {
  readonly operations: readonly Operation[];
  readonly result: StepResult;
}

/** A wait for operations with these plans, to the end of each. */
async function waitFor(
  context: TestContext,
  plans: readonly OperationPlan[],
  inputs: StepOptions['inputs'] = {},
  { debug, ...options }: StageOptions & Pick<StepOptions, 'debug'> = {},
): Promise<Wait> {
  const stage = await setStage(context, { operations: 0, ...options });
  const operations = plans.map((plan) => stage.operation(plan));
  const ids = operations.map(({ id }) => id).join(' ');
  const result = await stage.run({ 'operation-id': ids, 'fail-fast': 'false', ...inputs }, { debug });
  return { ...stage, operations, result };
}

/** The cells of each row, as text. */
function tableOf({ summary }: StepResult): string[][] {
  const rows = renderMarkdown(summary).match(/<tr>.*?<\/tr>/gs) ?? [];
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
    const { operations, result, projectId } = await waitFor(context, [
      { ageMs: 65 * second, lengthMs: 60 * second, branchId: 'br-good-1' },
      { lengthMs: 0, outcome: 'failed', action: 'start_compute', branchId: 'br-bad-1', failuresCount: 7 },
    ]);

    expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations failed\n\n<p>/);
    expect(result.summary).toMatch(/Do not deploy on top of this/);
    expect(result.summary).toContain(`<p>Project <code>${projectId}</code>, waited 0ms.</p>`);
    expect(tableOf(result)).toEqual([
      ['Status', 'Action', 'Branch', 'Duration', 'Failures', 'Operation'],
      ['❌ failed', 'start_compute', 'br-bad-1', '0ms', '7', operations[1]?.id],
      ['✅ finished', 'create_branch', 'br-good-1', '1m', '0', operations[0]?.id],
    ]);
    const now = Date.UTC(2024, 0, 1);
    expect(timelineOf(result)).toEqual([
      `1 finished create_branch br-good-1 :done, ${now - 65 * second}, ${now - 5 * second}`,
      // A bar has at least 1 % of the width.
      `2 failed start_compute br-bad-1 :crit, ${now}, ${now + 650}`,
    ]);
  });

  test.for(['running', 'scheduling'])(
    'at the deadline it shows what is still %s, until now',
    async (status, context) => {
      const course = [{ afterMs: 0, status }] as const;
      const { result } = await waitFor(context, [{ course, ageMs: second }, { lengthMs: 0 }], { timeout: '10s' });
      expect(result.summary).toMatch(/^### ❌ wait-operation: 1 of 2 operations not finished in time/);
      expect(tableOf(result)[1]?.slice(0, 4)).toEqual([`⏳ ${status}`, 'create_branch', expect.any(String), '11s']);
      const [, from, to] = / :active, (\d+), (\d+)$/.exec(timelineOf(result)[0] ?? '') ?? [];
      expect(Number(to) - Number(from)).toBe(11 * second);
    },
  );

  test('one operation gets a row and no timeline', async (context) => {
    const { result, operations } = await waitFor(context, [{ lengthMs: 0 }]);
    expect(result.summary).toMatch(/^### ✅ wait-operation: 1 operation finished\n/);
    expect(tableOf(result)[1]?.at(-1)).toBe(operations[0]?.id);
    expect(result.summary).not.toContain('mermaid');
  });

  test('operations that ended when they began get a bar each', async (context) => {
    const { result } = await waitFor(context, [{ lengthMs: 0 }, { lengthMs: 0 }]);
    const now = Date.UTC(2024, 0, 1);
    expect(timelineOf(result)).toEqual([1, 2].map((n) => expect.stringMatching(`^${n} .*, ${now}, ${now + 1}$`)));
  });

  test('an operation that no response showed has a row, but no bar', async (context) => {
    const faults = [{ fault: { kind: 'status', status: 503 } as const }];
    const { result, operations } = await waitFor(context, [{}, {}], { timeout: '0' }, { faults });
    expect(tableOf(result).slice(1)).toEqual(operations.map(({ id }) => ['⏳ no status yet', '', '', '', '', id]));
    expect(result.summary).not.toContain('mermaid');
  });

  test('of 300 operations it shows failed ones and what fits in 64 KiB, 30 bars, and counts the rest', async (context) => {
    const plans = Array.from({ length: 300 }, (_, n) => ({
      lengthMs: 0,
      outcome: n === 250 ? 'failed' : 'finished',
      action: `action_${n}_${'a'.repeat(200)}`,
      branchId: `br-${n}-${'b'.repeat(200)}`,
    }));
    const { result, operations } = await waitFor(context, plans);
    expect(result.outputs).toMatchObject({ status: 'failed', count: '300' });
    expect(Buffer.byteLength(result.summary)).toBeLessThan(64 * 1024);
    const rows = tableOf(result).slice(1);
    expect(rows.length).toBeGreaterThanOrEqual(20);
    expect(rows[0]?.at(-1)).toBe(operations[250]?.id);
    expect(result.summary).toContain(`Not shown: ${300 - rows.length} succeeded.`);
    expect(timelineOf(result)).toHaveLength(30);
  });

  test('with nothing to wait for it names what failed before, without table and timeline', async (context) => {
    const stage = await setStage(context, { operations: 0 });
    const { id } = stage.operation({ ageMs: 60 * second, lengthMs: 0, outcome: 'failed' });
    const { summary } = await stage.run({ 'operation-id': 'all' });
    expect(summary).toMatch(/^### ✅ wait-operation: Nothing to wait for\n/);
    expect(summary).toContain(id);
    expect(summary).not.toMatch(/<table>|mermaid/);
  });

  test('records with an id and a status alone are shown as they are', async (context) => {
    const fields = Object.fromEntries(
      ['project_id', 'branch_id', 'endpoint_id', 'action', 'failures_count', 'created_at', 'updated_at'].map((name) => [
        name,
        undefined,
      ]),
    );
    const outcomes = ['finished', 'failed'];
    const plans = outcomes.map((outcome) => ({ lengthMs: 0, outcome, fields }));
    const { result, operations } = await waitFor(context, plans);
    const records = operations.map(({ id }, n) => ({ id, status: outcomes[n] }));
    expect(result.outputs).toMatchObject({ 'operation-id': operations[1]?.id, operations: JSON.stringify(records) });
    expect(tableOf(result)[2]).toEqual(['✅ finished', 'operation', '', '', '', operations[0]?.id]);
    expect(result.log + result.summary).not.toMatch(/undefined|null|NaN|Invalid|1970/);
  });

  test('summary: false writes none', async (context) => {
    const { result } = await waitFor(context, [{ lengthMs: 0, outcome: 'failed' }], { summary: 'FALSE' });
    expect(result.conclusion).toBe('failure');
    expect(result.summary).toBe('');
  });
});

test.for([
  ['list-projects', {}, '✅ list-projects: 1 project'],
  ['revoke-key', { 'key-id': '77' }, '✅ revoke-key: '],
  ['create-key', {}, '✅ create-key: '],
  ['sweep-keys', {}, '✅ sweep-keys: '],
] as const)('the heading of %s names the mode and the result', async ([mode, inputs, heading], context) => {
  const stage = await setStage(context);
  expect((await stage.runMode(mode, inputs)).summary.split('\n')[0]).toContain(`### ${heading}`);
  expect((await stage.runMode(mode, { ...inputs, summary: 'false' })).summary).toBe('');
});

describe('the log', () => {
  test('with step debug it has a line for each exchange, and never a header or a body', async (context) => {
    const { result, service } = await waitFor(
      context,
      [{ lengthMs: 300, fields: { note: 'only-in-the-body' } }],
      {},
      {
        debug: true,
        faults: [
          { nth: 1, fault: { kind: 'status', status: 503, headers: { 'x-other': 'only-in-a-header' } } },
          { nth: 2, fault: { kind: 'cut-before-headers' } },
        ],
      },
    );
    expect(result.conclusion).toBe('success');
    const lines = result.commands.filter(({ name }) => name === 'debug').map(({ data }) => data);
    expect(lines).toHaveLength(service.requests.length);
    for (const line of lines) expect(line).toMatch(new RegExp(`^GET .*${service.requests[0]?.path}.*\\b\\d+ ms\\b`));
    expect(lines[0]).toMatch(/\b503\b.*req-\d+/);
    expect(lines[1]).toMatch(/connection|socket/i);
    expect(lines.at(-1)).toMatch(/\b200\b.*req-\d+/);
    expect(result.output).not.toMatch(/only-in|Bearer|authorization/i);
  });

  test('without step debug it has none of them', async (context) => {
    const { result } = await waitFor(context, [{ lengthMs: 0 }]);
    expect(result.commands.map(({ name }) => name)).toEqual(['add-mask']);
    expect(result.output).not.toMatch(/GET|req-\d/);
  });

  test('it says why a request is retried, and when', async (context) => {
    const fault = { kind: 'status', status: 503, retryAfter: { seconds: 1 } } as const;
    const { runMode, times } = await setStage(context, { faults: [{ nth: 1, fault }] });
    const { log } = await runMode('list-projects');
    const [, pause] = /GET \/v2\/projects: status 503.*\. Retrying in (\d+(?:\.\d)?)s\./.exec(log) ?? [];
    expect(times()[1]).toBeGreaterThanOrEqual(second);
    expect(Math.abs((times()[1] ?? 0) - Number(pause) * second)).toBeLessThanOrEqual(50);
  });
});
