import { expect, test } from 'vitest';
import type { Fault, OperationPlan, RunningControlPlane } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { serve } from './service-of-own.js';
import { errorOf, setStage, warningsOf } from './stage.js';

type Listed = Readonly<Record<string, unknown>>;

const minute = 60_000;
const hour = 60 * minute;

/** Ids of operations, oldest first as they are given, in the order of the list. */
function past({ plane }: RunningControlPlane, plans: readonly OperationPlan[]): string[] {
  return plans.map((plan) => plane.startOperation({ lengthMs: 0, ...plan }).id).reverse();
}

/** So many operations, one a minute, ended long ago. */
function many(service: RunningControlPlane, count: number, plan: OperationPlan = {}): string[] {
  const ages = Array.from({ length: count }, (_, index) => (count - index) * minute + hour / 120);
  return past(
    service,
    ages.map((ageMs) => ({ ...plan, ageMs })),
  );
}

function json<T>(result: StepResult, output: string): T {
  return JSON.parse(result.outputs[output] ?? '') as T;
}

function idsOf(result: StepResult): string[] {
  return json<string[]>(result, 'operation-ids');
}

function inFile(result: StepResult): { readonly operation_ids: string[]; readonly operations: Listed[] } {
  return JSON.parse(result.readFile(result.outputs['result-file'] ?? '')) as ReturnType<typeof inFile>;
}

/** What each request asked for: its limit, and whether it bore a cursor. */
function asked({ requests }: RunningControlPlane): string[] {
  return requests.map(({ path, method, endpoint }) => {
    const query = new URLSearchParams(path.split('?')[1]);
    expect([method, endpoint]).toEqual(['GET', 'list-operations']);
    expect([...query.keys()]).toEqual(query.has('cursor') ? ['limit', 'cursor'] : ['limit']);
    return `${query.get('limit')}${query.has('cursor') ? ' on' : ''}`;
  });
}

test.concurrent('the operations of a project, newest first, with all their fields', async (context) => {
  const { service, projectId, runMode } = await setStage(context, { operations: 0 });
  const ids = past(service, [
    { ageMs: 3 * hour, action: 'create_branch' },
    { ageMs: 2 * hour, action: 'start_compute', outcome: 'failed' },
    { ageMs: 0, action: 'suspend_compute', lengthMs: Number.POSITIVE_INFINITY, schedulingMs: 0 },
  ]);
  service.plane.addProject();

  const result = await runMode('list-operations', { 'project-id': projectId });

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toEqual({
    status: 'ok',
    count: '3',
    'operation-id': ids[0],
    'operation-ids': JSON.stringify(ids),
    operations: expect.any(String),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  const operations = json<Listed[]>(result, 'operations');
  expect(operations).toMatchObject([
    { id: ids[0], project_id: projectId, action: 'suspend_compute', status: 'running', failures_count: 0 },
    { id: ids[1], action: 'start_compute', status: 'failed', failures_count: 1, endpoint_id: expect.any(String) },
    { id: ids[2], action: 'create_branch', status: 'finished' },
  ]);
  expect(operations[2]).not.toHaveProperty('endpoint_id');
  expect(inFile(result)).toEqual({
    mode: 'list-operations',
    status: 'ok',
    count: 3,
    operation_ids: ids,
    operations,
  });
  expect(service.requests.map(({ path }) => path)).toContain(`/v2/projects/${projectId}/operations?limit=100`);
  expect(result.annotations).toEqual([]);
  expect(result.summary).toMatch(/^### ✅ list-operations: 3 operations\n/);
  expect(result.summary.match(/<tr>/g)).toHaveLength(4);
  for (const text of [...ids, 'failed', 'running', 'suspend_compute']) expect(result.summary).toContain(text);
});

// How many

for (const [limit, count, pages, isToldToCut] of [
  ['', 100, 1, false],
  ['1', 1, 1, true],
  ['99', 99, 1, true],
  ['101', 101, 2, true],
  ['250', 250, 3, true],
  ['259', 259, 3, true],
  ['260', 260, 3, false],
  ['300', 260, 4, false],
  ['0', 260, 4, false],
] as const) {
  test.concurrent(`limit “${limit}” gives ${count} of 260 ${isToldToCut ? 'and a warning' : 'and no warning'}, in pages of 100`, async (context) => {
    const { service, projectId, runMode } = await setStage(context, { operations: 0 });
    const ids = many(service, 260);
    const result = await runMode('list-operations', { 'project-id': projectId, limit });
    expect(result.outputs).toMatchObject({ status: 'ok', count: String(count), 'operation-id': ids[0] });
    expect(idsOf(result)).toEqual(ids.slice(0, count));
    expect(inFile(result).operations).toHaveLength(count);
    expect(asked(service)).toEqual(['100', '100 on', '100 on', '100 on'].slice(0, pages));
    expect(warningsOf(result)).toEqual(
      isToldToCut
        ? [`limit: ${limit} cut the list, but more operations match. Raise limit, or set it to 0 for all.`]
        : [],
    );
  });
}

for (const lastPageCursor of ['given', 'absent', 'null', 'empty', 'repeated'] as const) {
  test.concurrent(`all, where the last cursor is ${lastPageCursor}`, async (context) => {
    for (const count of [0, 1, 99, 100, 101, 200]) {
      const { service, projectId, runMode } = await setStage(context, {
        operations: 0,
        notShown: { lastPageCursor, cursorZone: '+00:00' },
      });
      const ids = many(service, count);
      const result = await runMode('list-operations', { 'project-id': projectId, limit: '0' });
      expect(result.conclusion).toBe('success');
      expect(idsOf(result)).toEqual(ids);
      expect(result.outputs).toMatchObject({ 'operation-id': ids[0] ?? '', count: String(count) });
    }
  });
}

test.concurrent('a service whose pages are smaller than asked for', async (context) => {
  const { service, projectId, runMode } = await setStage(context, {
    operations: 0,
    notShown: { maximumPageSize: 40, overMaximum: 'clamp' },
  });
  const ids = many(service, 150);
  const result = await runMode('list-operations', { 'project-id': projectId, limit: '110' });
  expect(idsOf(result)).toEqual(ids.slice(0, 110));
  expect(asked(service)).toEqual(['100', '100 on', '100 on']);
});

test.concurrent('a service that gives more than asked for', async (context) => {
  const { runMode } = await setStage(context);
  const operations = Array.from({ length: 20 }, (_, n) => record(n));
  const { baseUrl, paths } = await serve(context, JSON.stringify({ operations, pagination: { cursor: 'more' } }));
  const result = await runMode('list-operations', { 'base-url': baseUrl, 'project-id': 'p', limit: '7' });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '7' });
  expect(warningsOf(result)).toMatchObject([expect.stringContaining('limit: 7 cut the list')]);
  expect(paths).toHaveLength(1);
});

test.concurrent('the default of 100 operations cuts a list without a warning', async (context) => {
  const { runMode } = await setStage(context);
  const operations = Array.from({ length: 101 }, (_, n) => record(n));
  const { baseUrl } = await serve(context, JSON.stringify({ operations }));
  const result = await runMode('list-operations', { 'base-url': baseUrl, 'project-id': 'p' });
  expect(result.outputs).toMatchObject({ count: '100' });
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('a service that ignores the cursor gives a warning that the list may be incomplete', async (context) => {
  const { runMode } = await setStage(context);
  const operations = Array.from({ length: 10 }, (_, n) => record(n));
  for (const cursor of ['same', undefined]) {
    const { baseUrl } = await serve(context, (_, n) =>
      JSON.stringify({ operations, pagination: { cursor: cursor ?? (n < 4 ? `c${n}` : '') } }),
    );
    const result = await runMode('list-operations', { 'base-url': baseUrl, 'project-id': 'p' });
    expect(result.outputs).toMatchObject({ status: 'ok', count: '10' });
    expect(warningsOf(result)).toMatchObject([expect.stringMatching(/list may be incomplete.*ignore the cursor/)]);
  }
});

test.concurrent('a list that changes while it is read loses and doubles nothing that was there throughout', async (context) => {
  const gone: string[] = [];
  const { service, projectId, runMode } = await setStage(context, {
    operations: 0,
    onExchange: ({ n }) => {
      past(service, [{}, {}, {}]);
      for (const at of [0, n * 100 - 1, n * 100, n * 100 + 10]) {
        const operation = service.plane.operation(projectId, ids[at] ?? '');
        if (operation !== undefined) service.plane.removeOperation(operation);
        if (operation !== undefined) gone.push(operation.id);
      }
    },
  });
  const ids: string[] = many(service, 330);
  const result = await runMode('list-operations', { 'project-id': projectId, limit: '0' });
  const found = idsOf(result);
  expect(new Set(found).size).toBe(found.length);
  expect(found).toEqual(expect.arrayContaining(ids.filter((id) => !gone.includes(id))));
  expect(gone.length).toBeGreaterThan(6);
});

// Filters

const filters: readonly [filter: string, names: string][] = [
  ['id=*', 'suspend fine failed branch'],
  ['status=failed', 'failed'],
  ['status!=failed', 'suspend fine branch'],
  ['action=start_*', 'fine failed'],
  ['action!=*_compute', 'branch'],
  ['branch_id=br-main', 'suspend branch'],
  ['branch_id!=br-main', 'fine failed'],
  ['endpoint_id=*', 'suspend fine failed'],
  ['endpoint_id!=*', 'branch'],
  ['endpoint_id!=ep-1', 'fine failed branch'],
  ['failures_count=2', 'failed'],
  ['failures_count!=0', 'failed'],
  ['project_id=*', 'suspend fine failed branch'],
  ['created_at!=*T*Z', ''],
  ['updated_at=20*', 'suspend fine failed branch'],
  ['action=start_*\nstatus=finished', 'fine'],
];

for (const [filter, expected] of filters) {
  test.concurrent(`filter ${filter.replace('\n', ' and ')}`, async (context) => {
    const { service, projectId, runMode } = await setStage(context, { operations: 0 });
    const [suspend, fine, failed, branch] = past(service, [
      { ageMs: 4 * hour, action: 'create_branch', branchId: 'br-main' },
      {
        ageMs: 3 * hour,
        action: 'start_compute',
        branchId: 'br-dev',
        endpointId: 'ep-2',
        outcome: 'failed',
        failuresCount: 2,
      },
      { ageMs: 2 * hour, action: 'start_compute', branchId: 'br-dev', endpointId: 'ep-2' },
      { ageMs: hour, action: 'suspend_compute', branchId: 'br-main', endpointId: 'ep-1' },
    ]);
    const named: Record<string, string | undefined> = { suspend, fine, failed, branch };
    const ids = expected === '' ? [] : expected.split(' ').map((name) => named[name]);

    const result = await runMode('list-operations', { 'project-id': projectId, filter });

    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'ok', count: String(ids.length), 'operation-id': ids[0] ?? '' });
    expect(idsOf(result)).toEqual(ids);
    expect(inFile(result).operation_ids).toEqual(ids);
  });
}

test.concurrent('a filter that can never match is refused, and an unknown status gets a warning', async (context) => {
  const { service, projectId, runMode } = await setStage(context);
  for (const filter of ['status=failed action=create_branch', 'status=Failed']) {
    const result = await runMode('list-operations', { 'project-id': projectId, filter, 'fail-on': 'match' });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain('filter: line 1');
  }
  expect(service.requests).toEqual([]);
  const result = await runMode('list-operations', { 'project-id': projectId, filter: 'status=paused' });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '0' });
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/^filter: line 1: “paused” is not a known status/)]);
});

test.concurrent('with a filter pages are read on, of 100, until there are as many as the limit', async (context) => {
  const { service, projectId, runMode } = await setStage(context, { operations: 0 });
  const [wanted = ''] = past(service, [{ ageMs: 10 * hour, outcome: 'failed' }]);
  many(service, 230);
  const [newer = ''] = past(service, [{ ageMs: 1_000, outcome: 'failed' }]);

  const one = await runMode('list-operations', { 'project-id': projectId, filter: 'status=failed', limit: '1' });
  expect(idsOf(one)).toEqual([newer]);
  expect(asked(service)).toEqual(['100']);

  const two = await runMode('list-operations', { 'project-id': projectId, filter: 'status=failed', limit: '2' });
  expect(idsOf(two)).toEqual([newer, wanted]);
  expect(asked(service)).toEqual(['100', '100', '100 on', '100 on']);
});

// Since

for (const [since, count, requests] of [
  ['1m', 0, ['100']],
  ['50m', 49, ['100']],
  ['2h', 119, ['100', '100 on']],
  ['200m', 199, ['100', '100 on']],
  ['366d', 260, ['100', '100 on', '100 on', '100 on']],
] as const) {
  test.concurrent(`since ${since} gives ${count}, and stops paging there`, async (context) => {
    const { service, projectId, runMode } = await setStage(context, { operations: 0 });
    const ids = many(service, 260);
    const result = await runMode('list-operations', { 'project-id': projectId, since, limit: '0' });
    expect(result.conclusion).toBe('success');
    expect(idsOf(result)).toEqual(ids.slice(0, count));
    expect(result.outputs).toMatchObject({ 'operation-id': count === 0 ? '' : ids[0] });
    expect(asked(service)).toEqual(requests);
  });
}

test.concurrent('since together with limit and filter', async (context) => {
  const { service, projectId, runMode } = await setStage(context, { operations: 0 });
  const [older = ''] = past(service, [{ ageMs: 10 * hour, outcome: 'failed' }]);
  const ids = many(service, 260);
  const limited = await runMode('list-operations', { 'project-id': projectId, since: '3h', limit: '120' });
  expect(idsOf(limited)).toEqual(ids.slice(0, 120));
  const common = await runMode('list-operations', { 'project-id': projectId, since: '3h' });
  expect(idsOf(common)).toEqual(ids.slice(0, 100));
  expect(asked(service)).toEqual(['100', '100 on', '100']);

  const inputs = { 'project-id': projectId, filter: 'status=failed' };
  const none = await runMode('list-operations', { ...inputs, since: '9h' });
  expect(none.outputs).toMatchObject({ status: 'ok', count: '0', 'operation-ids': '[]', operations: '[]' });
  const one = await runMode('list-operations', { ...inputs, since: '11h' });
  expect(idsOf(one)).toEqual([older]);
});

for (const hoursAhead of [2, -2]) {
  const runner = hoursAhead > 0 ? 'behind' : 'ahead of';
  test.concurrent(`a runner whose clock is 2 h ${runner} that of the service finds the failures of the last hour, and no older one`, async (context) => {
    const { runMode } = await setStage(context);
    const service = Date.now() + hoursAhead * hour;
    const failed = [10, 50, 70, 200].map((age, n) =>
      record(n, { status: 'failed', created_at: new Date(service - age * minute).toISOString() }),
    );
    const { baseUrl } = await serve(context, JSON.stringify({ operations: failed }), {
      'content-type': 'application/json',
      date: new Date(service).toUTCString(),
    });
    const inputs = { 'base-url': baseUrl, 'project-id': 'p', filter: 'status=failed', since: '1h' };
    const result = await runMode('list-operations', { ...inputs, 'fail-on': 'match' });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'match', count: '2' });
    expect(idsOf(result)).toEqual([uuid(0), uuid(1)]);
  });
}

for (const since of ['0', '0s', 'yesterday', '-1h', '1.5h', '367d', '2026-01-01', 'null']) {
  test.concurrent(`since ${since} is refused before anything is sent`, async (context) => {
    const { service, projectId, runMode } = await setStage(context);
    const result = await runMode('list-operations', { 'project-id': projectId, since });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(`since: “${since}”`);
    expect(service.requests).toEqual([]);
  });
}

// As a check

for (const [what, ageMs, outcome, status] of [
  ['a failure of the last hour', 10 * minute, 'failed', 'match'],
  ['a failure of before', 70 * minute, 'failed', 'ok'],
  ['no failure', 10 * minute, 'finished', 'ok'],
] as const) {
  test.concurrent(`a check for failed operations finds ${what}: ${status}`, async (context) => {
    const { service, projectId, runMode } = await setStage(context, { operations: 0 });
    const [id] = past(service, [{ ageMs, outcome }, { ageMs: minute }]).slice(-1);
    const result = await runMode('list-operations', {
      'project-id': projectId,
      filter: 'status=failed',
      since: '1h',
      'fail-on': 'match',
    });
    expect(result.outputs).toMatchObject({ status, count: status === 'match' ? '1' : '0' });
    expect(result.conclusion).toBe(status === 'match' ? 'failure' : 'success');
    expect(idsOf(result)).toEqual(status === 'match' ? [id] : []);
    if (status === 'match') expect(errorOf(result)).toContain('fail-on: match');
    if (status === 'match') expect(result.summary).toContain(id);
    else expect(result.annotations).toEqual([]);
  });
}

test.concurrent('a project without operations, and fail-on: empty', async (context) => {
  const { projectId, runMode } = await setStage(context, { operations: 0 });
  const none = { count: '0', 'operation-id': '', 'operation-ids': '[]', operations: '[]' };
  const fine = await runMode('list-operations', { 'project-id': projectId });
  expect(fine.conclusion).toBe('success');
  expect(fine.outputs).toMatchObject({ status: 'ok', ...none });
  const failed = await runMode('list-operations', { 'project-id': projectId, 'fail-on': 'empty' });
  expect(failed.conclusion).toBe('failure');
  expect(failed.outputs).toMatchObject({ status: 'empty', ...none });
  expect(inFile(failed)).toMatchObject({ status: 'empty', operations: [] });
});

test.concurrent('a project that does not exist', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('list-operations', { 'project-id': 'no-such&project' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.outputs).not.toHaveProperty('count');
  expect(errorOf(result)).toMatch(/404.*There is no such project.*request id.*project-id.*access/s);
  expect(service.requests.map(({ path }) => path)).toEqual(['/v2/projects/no-such%26project/operations?limit=100']);
});

test.concurrent('bad inputs are told together, and nothing is sent', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const project of ['', 'null', '.', '..', 'a/b', 'a,b', 'a b', '[]', '["a","b"]', '["a"']) {
    const result = await runMode('list-operations', { 'project-id': project, filter: 'stauts=x', limit: 'all' });
    expect(errorOf(result)).toContain('project-id');
    expect(errorOf(result)).toContain('did you mean status?');
    expect(errorOf(result)).toContain('limit: “all”');
  }
  expect(service.requests).toEqual([]);
});

test.concurrent('inputs of other modes are ignored with one warning', async (context) => {
  const { projectId, runMode } = await setStage(context);
  const inputs = { shard: 'x', 'operation-id': 'all', 'poll-interval': 'soon', 'key-name': 'x' };
  const result = await runMode('list-operations', { 'project-id': projectId, ...inputs });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toHaveLength(1);
  for (const name of Object.keys(inputs)) expect(warningsOf(result)[0]).toContain(name);
});

// Records

function uuid(n: number): string {
  return `a07f8772-1877-4da9-a939-${String(n).padStart(12, '0')}`;
}

function record(n: number, more: Listed = {}): Listed {
  return { id: uuid(n), status: 'finished', ...more };
}

test.concurrent('what is more passes through with its digits, and what is absent is fine', async (context) => {
  const { runMode } = await setStage(context);
  const records = [
    `{"id":"${uuid(1)}","status":"finished","failures_count":9007199254740993,"more":[18446744073709551615]}`,
    `{"id":"${uuid(2)}","status":"of_tomorrow","action":null,"created_at":null}`,
    `{"id":"${uuid(3)}","status":"failed","created_at":"yesterday"}`,
  ];
  const { baseUrl } = await serve(context, `{"operations":[${records}]}`);
  const inputs = { 'base-url': baseUrl, 'project-id': 'p' };
  const result = await runMode('list-operations', inputs);
  expect(result.outputs).toMatchObject({ count: '3', operations: `[${records}]`, 'operation-id': uuid(1) });
  expect(result.readFile(result.outputs['result-file'] ?? '')).toContain(`"operations":[${records}]}`);
  // What does not say when it was is not known to be older.
  const since = await runMode('list-operations', { ...inputs, since: '1h' });
  expect(since.outputs).toMatchObject({ count: '3' });
  const one = await runMode('list-operations', { ...inputs, filter: 'failures_count=9007199254740993' });
  expect(idsOf(one)).toEqual([uuid(1)]);
});

test.concurrent('records of more than 100 KiB are left to the file; the ids are put out', async (context) => {
  const { service, projectId, runMode } = await setStage(context, { operations: 0 });
  const ids = many(service, 500);
  const result = await runMode('list-operations', { 'project-id': projectId, limit: '0' });
  expect(result.outputs).toMatchObject({ count: '500', operations: '' });
  expect(idsOf(result)).toEqual(ids);
  expect(inFile(result).operations).toHaveLength(500);
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/: operations\..*result-file/)]);
  expect(result.summary.match(/<tr>/g)).toHaveLength(51);
  expect(result.summary).toContain('450');
});

test.concurrent('hostile text in every field of an operation is text', async (context) => {
  const { runMode } = await setStage(context);
  const text = 'x\n::error::HACKED\r\n##[error]HACKED <img src=x></code></td>\n\n# HACKED \u202E\u001b[31m `$(id)` "\'';
  const names = ['status', 'action', 'branch_id', 'endpoint_id', 'failures_count', 'created_at', 'updated_at', 'more'];
  const operation = record(1, Object.fromEntries(names.map((name) => [name, text])));
  const { baseUrl } = await serve(context, JSON.stringify({ operations: [operation] }));
  const inputs = { 'base-url': baseUrl, 'project-id': 'p', 'fail-on': 'match' };
  const result = await runMode('list-operations', inputs, { debug: true });
  expect(json(result, 'operations')).toEqual([operation]);
  expect(inFile(result).operations).toEqual([operation]);
  const own = result.commands.map(({ name }) => name).filter((name) => name !== 'debug');
  expect(own).toEqual(['add-mask', 'error']);
  expect(result.output).not.toContain('HACKED');
  expect(result.summary).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  const bare = result.summary.replace(/<code>[^<>\n]*<\/code>/g, '').replace(/<\/?(?:p|br|table|tr|th|td)>/g, '');
  expect(bare).not.toMatch(/[<>]|HACKED/);
});

for (const [what, body, place] of [
  ['a record without an id', '{"operations":[{"status":"finished"}]}', '`operations[0].id`'],
  ['a record without a status', `{"operations":[{"id":"${uuid(1)}"}]}`, '`operations[0].status`'],
  ['a record that is null', '{"operations":[null]}', '`operations[0]`'],
  [
    'a record of another project',
    JSON.stringify({ operations: [record(1), record(2, { project_id: 'q' })] }),
    '`operations[1].project_id`',
  ],
  ['no list', '{"operations":null}', '`operations` should be an array'],
  ['no object', 'null', '`operations` is missing: the body is not an object'],
  ['a cursor that is a list', '{"operations":[],"pagination":{"cursor":[]}}', '`pagination.cursor`'],
] as const) {
  test.concurrent(`${what} is an error that names the place`, async (context) => {
    const { runMode } = await setStage(context);
    const { baseUrl, paths } = await serve(context, body);
    const result = await runMode('list-operations', { 'base-url': baseUrl, 'project-id': 'p' });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.outputs).not.toHaveProperty('count');
    expect(errorOf(result)).toContain(place);
    expect(paths).toHaveLength(1);
  });
}

// Faults

const passing: Readonly<Record<string, Fault>> = {
  '503': { kind: 'status', status: 503 },
  'a body cut short': { kind: 'cut-mid-body', framing: 'chunked' },
};

for (const [what, fault] of Object.entries(passing)) {
  test.concurrent(`${what} amid pages is read again; for ever, it is an error and never a shorter list`, async (context) => {
    const { service, projectId, runMode } = await setStage(context, { operations: 0 });
    const ids = many(service, 201);
    const inputs = { 'project-id': projectId, limit: '0' };
    const options = { nodeArgs: quickDice };

    const remove = service.faults.add({ nth: 2, fault });
    const once = await runMode('list-operations', inputs, options);
    remove();
    expect(idsOf(once)).toEqual(ids);
    expect(service.requests[2]?.path).toBe(service.requests[1]?.path);

    service.faults.add({ from: 2, fault });
    const forEver = await runMode('list-operations', { ...inputs, timeout: '3s' }, options);
    expect(forEver.conclusion).toBe('failure');
    expect(forEver.outputs).toMatchObject({ status: 'error' });
    expect(forEver.outputs).not.toHaveProperty('operation-ids');
    expect(errorOf(forEver)).toContain(`GET /v2/projects/${projectId}/operations`);
  });
}

// Each alone, as it is a matter of time

test('a cancel amid pages ends the step red, without an error and without half a list', async (context) => {
  const { service, projectId, startMode } = await setStage(context, {
    operations: 150,
    faults: [{ nth: 2, fault: { kind: 'hang-mid-body' } }],
  });
  const step = startMode('list-operations', { 'project-id': projectId, limit: '0' });
  await reach(step, service.arrived({ n: 2 }));
  step.kill('SIGINT');
  const result = await step.done;
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.outputs).not.toHaveProperty('operation-ids');
  expect(result.annotations).toEqual([]);
  expect(result.exitCode).toBe(1);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
});

test('the deadline amid pages ends the step', async (context) => {
  const { projectId, runMode } = await setStage(context, {
    operations: 150,
    faults: [{ from: 2, fault: { kind: 'hang-before-headers' } }],
  });
  const result = await runMode('list-operations', { 'project-id': projectId, limit: '0', timeout: '800ms' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/Timed out after 800ms/);
  expect(result.ms).toBeLessThan(2_800);
});
