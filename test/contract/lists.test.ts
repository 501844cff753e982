import { describe, expect, type TestContext, test } from 'vitest';
import type { HttpResponse } from '../../src/http/exchange.js';
import { type Inputs, requiredInputs, uuid } from '../kit/inputs.js';
import { errorOf, resultFileOf, type Stage, type StageOptions, setStage, warningsOf } from '../kit/stage.js';
import { minute } from '../kit/times.js';
import { ended, failsIn } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

type Json = Readonly<Record<string, unknown>>;

const times = { created_at: '2026-01-31T09:30:00.123Z', updated_at: '2026-02-01T00:00:00Z' };
const operations = list('operation', 'projects/p/operations?limit=100', (n) => ({ id: uuid(n), status: 'finished' }), {
  ...{ id: uuid(7), project_id: 'p', branch_id: 'br-main', endpoint_id: 'ep-1', action: 'start_compute' },
  ...{ status: 'failed', failures_count: 2, ...times },
});
const projects = list('project', 'projects', (n) => ({ id: `p-${n}` }), {
  ...{ id: 'shop-1', name: 'shop', platform_id: 'aws', region_id: 'aws-eu-1', provisioner: 'pod', pg_version: 15 },
  ...{ locked: false, cpu_used_sec: 0, proxy_host: 'eu.db.example', branch_logical_size_limit: 204_800, ...times },
});
const keys = list('key', 'api_keys', (n) => ({ id: n }), {
  ...{ id: 7, name: 'shop', created_at: '2026-01-31T09:30:00Z' },
  ...{ last_used_at: '2026-03-01T00:00:00Z', last_used_from_addr: '203.0.113.77' },
});
const lists = [operations, projects, keys];
type List = (typeof lists)[number];

/** What the three modes differ in. `path` follows `/v2/`; `full` is a record that has every documented field. */
function list(noun: 'operation' | 'project' | 'key', path: string, required: (n: number) => Json, full: Json) {
  const record = (n: number, more: Json = {}): Json => ({ ...required(n), ...more });
  const body = (records: readonly unknown[], cursor?: string | null) =>
    JSON.stringify(noun === 'key' ? records : { [`${noun}s`]: records, pagination: { cursor } });
  return { mode: `list-${noun}s`, noun, path, record, full, body } as const;
}

const numbered = ({ record }: List, count: number) => Array.from({ length: count }, (_, n) => record(n + 1));

type Respond = NonNullable<StageOptions['respond']> | string;

async function read(context: TestContext, { mode }: List, respond: Respond, inputs: Inputs = {}) {
  const stage = await setStage(context, { respond: typeof respond === 'string' ? () => respond : respond });
  const result = await stage.runMode(mode, { ...requiredInputs[mode], ...inputs }, { debug: true });
  return { result, paths: stage.paths() };
}

const idsOf = ({ outputs }: StepResult, { noun }: List): string[] => JSON.parse(outputs[`${noun}-ids`] ?? '');
const recordsOf = ({ outputs }: StepResult, { noun }: List): Json[] => JSON.parse(outputs[`${noun}s`] ?? '');

/** Outputs and result-file have these records and no others. The tests of the reference compare the names of all fields. */
function expectListed(result: StepResult, { mode, noun }: List, records: readonly Json[], status = 'ok'): void {
  const ids = records.map(({ id }) => String(id));
  const [idsText, recordsText] = [ids, records].map((list) => JSON.stringify(list));
  const outputs = { status, count: String(ids.length), [`${noun}-ids`]: idsText, [`${noun}s`]: recordsText };
  expect(result.outputs).toMatchObject(outputs);
  if (noun === 'operation') expect(result.outputs['operation-id']).toBe(ids[0] ?? '');
  if (noun === 'project') expect(result.outputs['batches']).toBe(JSON.stringify(ids.map((id) => [id])));
  const file = resultFileOf(result);
  expect(JSON.parse(file)).toMatchObject({ mode, status, count: ids.length, [`${noun}_ids`]: ids });
  expect(file).toContain(`,"${noun}s":${recordsText}}\n`);
}

function expectError(result: StepResult, { noun }: List, message: string | RegExp): void {
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
  expect(result.outputs).not.toHaveProperty('count');
  expect(result.outputs).not.toHaveProperty(`${noun}-ids`);
  expect(errorOf(result)).toMatch(message);
}

describe.each(lists.map((list) => [list.mode, list] as const))('%s', (mode, list) => {
  const { noun, body, record } = list;

  test('shows the same records in outputs, result-file and summary, even if their fields are odd', async (context) => {
    const fields = [
      { of_tomorrow: { deep: [1] } },
      { name: null, action: null, created_at: null },
      { name: {}, created_at: 0, updated_at: 'yesterday' },
    ];
    const records = fields.map((more, n) => record(n + 1, more));
    const { result, paths } = await read(context, list, body(records));
    expect(result.conclusion).toBe('success');
    expectListed(result, list, records);
    expect(result.summary).toMatch(new RegExp(`^### ✅ ${mode}: 3 ${noun}s\\n`));
    for (const { id } of records) expect(result.summary).toContain(`<code>${id}</code>`);
    expect(result.annotations).toEqual([]);
    expect(result.log + result.summary).not.toMatch(/undefined|NaN|Invalid|1970|\[object/);
    expect(paths).toEqual([list.path]);
  });

  const announced = { 'content-type': 'application/json', link: '<https://control.test/v2/more>; rel="next"' };
  test.for([
    ['ok', 2, 'without fail-on', ''],
    ['empty', 0, 'with fail-on: empty', 'empty'],
    ['ok', 2, 'with fail-on: empty', 'empty'],
    ['ok', 0, 'with fail-on: match', 'match'],
    ['match', 2, 'with fail-on: match', 'match'],
  ] as const)('ends as %s after %i matches %s, but as error if a page is missing', async (row, context) => {
    const [status, count, , failOn] = row;
    const records = numbered(list, count + 1);
    const matches = records.slice(0, count);
    const inputs = { filter: `id!=${records.at(-1)?.['id']}`, 'fail-on': failOn };
    const { result } = await read(context, list, body(records), inputs);
    expect(result.conclusion).toBe(status === 'ok' ? 'success' : 'failure');
    expectListed(result, list, matches, status);
    if (status === 'ok') expect(result.annotations).toEqual([]);
    else expect(errorOf(result)).toContain(`fail-on: ${failOn}`);
    const partial = await read(context, list, () => ({ body: body(records), headers: announced }), inputs);
    expectError(partial.result, list, /not whole: the header link names another page/);
    expect(partial.paths).toHaveLength(5);
  });

  test('names the first five records in the error of fail-on: match', async (context) => {
    const field = list === operations ? 'action' : 'name';
    const nameOf = (n: number) => (n === 1 ? null : `n-${n}\u0007\n::x`);
    const records = numbered(list, 7).map((one, n) => ({ ...list.full, ...one, [field]: nameOf(n) }));
    const { result } = await read(context, list, body(records), { 'fail-on': 'match' });
    const named = records.slice(0, 5).map(({ id }, n) => (n === 1 ? `${id}` : `${id} (n-${n} ::x)`));
    const where = noun === 'operation' ? 'Criteria: project p. ' : '';
    const found = `Found 7 ${noun}s: ${named.join('; ')}; and 2 more. ${where}With fail-on: match`;
    expect(errorOf(result)).toContain(found);
    expect(errorOf(result)).not.toMatch(/eu\.db\.example|203\.0\.113/);
  });

  const limits = ['', '0', '5', '6', '7'].map(
    (limit) => [Math.min(6, Number(limit) || 6), limit || 'empty', limit] as const,
  );
  test.for(limits)('lists %i of 6 matching records if limit is %s', async ([count, , limit], context) => {
    const records = numbered(list, 12).map((one, n) => ({ ...one, created_at: n % 2 === 0 ? '2026' : '2025' }));
    const { result } = await read(context, list, body(records), { limit, filter: 'created_at=2025' });
    expectListed(result, list, records.filter((_, n) => n % 2 === 1).slice(0, count));
    for (const text of [result.summary, result.log])
      expect(text.includes('the list may go on')).toBe(count === Number(limit));
    expect(result.annotations).toEqual([]);
  });

  test('filters by each documented field, and takes a missing or null field as empty', async (context) => {
    const { id, ...others } = list.full;
    const bare = record(1);
    const empty = { ...Object.fromEntries(Object.keys(others).map((field) => [field, null])), ...record(2) };
    const { runMode } = await setStage(context, { oneJob: true, respond: () => body([list.full, bare, empty]) });
    const run = (...filter: string[]) => runMode(mode, { ...requiredInputs[mode], filter: filter.join('\n') });
    const listed = async (...filter: string[]) => recordsOf(await run(...filter), list);
    const all = Object.entries(list.full).map(([field, value]) => `${field}=${value}`);
    expect(await listed(...all)).toEqual([list.full]);
    const fields = Object.keys(others).filter((field) => !(field in bare));
    expect(await listed(...fields.map((field) => `${field}!=${others[field]}`))).toEqual([bare, empty]);
    for (const field of fields) expect(await listed(`${field}=?*`), field).toEqual([list.full]);
  });

  test('rejects a filter by an unknown field that no record has, but only warns of a documented field', async (context) => {
    let records = [record(1), record(2, { of_tomorrow: null })];
    const { runMode } = await setStage(context, { oneJob: true, respond: () => body(records) });
    const run = (filter: string) => runMode(mode, { ...requiredInputs[mode], filter });
    expectListed(await run('of_tomorrow!=x'), list, records);
    expectError(await run('of_yesterday!=x'), list, /the field “of_yesterday”. The documented fields/);
    const warned = await run('created_at!=x');
    expectListed(warned, list, records);
    expect(warningsOf(warned)).toEqual([expect.stringContaining('the field “created_at”')]);
    records = [];
    for (const filter of ['of_yesterday!=x', 'created_at!=x']) expect((await run(filter)).annotations).toEqual([]);
  });

  const place = list === keys ? '' : `${noun}s`;
  const noList = list === keys ? 'an array' : `\`${place}\` should be an array`;
  // A number that is no integer may be rounded.
  const fraction = { 'a fraction': 1.5 };
  const odd = {
    operation: fraction,
    project: { ...fraction, 'a huge number': 1e300 },
    key: { ...fraction, 'a word': 'shop', negative: -5 },
  }[noun];
  const oddIds = { missing: undefined, null: null, empty: '', 'an array': ['a'], 'an object': {}, ...odd };
  const withId = (id: unknown) => body([record(1), record(2, { id })]);
  test.for([
    ...Object.entries(oddIds).map(
      ([what, id]) => [`a record whose id is ${what}`, withId(id), `\`${place}[1].id\``] as const,
    ),
    ['a record that is a string', body(['a']), `\`${place}[0]\` should be an object`],
    ['null as the body', 'null', noList],
  ])('fails after five responses with %s', async ([, text, where], context) => {
    const { result, paths } = await read(context, list, text);
    expectError(result, list, where);
    expect(errorOf(result)).toContain(`GET /v2/${list.path.replace(/\?.*/, '')}`);
    expect(paths).toEqual(Array(5).fill(list.path));
  });
});

describe.each([operations, projects].map((list) => [list.mode, list] as const))('%s', (_, list) => {
  const { body, record } = list;

  test('sends any cursor back unchanged, even an integer', async (context) => {
    const cursors = ['a b+c&d=e%25/?#', '2026-01-31T09:30:00.123456+00:00', '🙂"\n', '9007199254740991'];
    const respond = (_: string, n: number) => body([record(n)], cursors[n - 1] ?? null).replace(/"(9\d+)"/, '$1');
    const { result, paths } = await read(context, list, respond);
    expect(idsOf(result, list)).toEqual(numbered(list, 5).map(({ id }) => String(id)));
    expect(paths.map((path) => new URLSearchParams(path.split('?')[1]).get('cursor'))).toEqual([null, ...cursors]);
    expect(paths[0]).toBe(list.path);
    for (const path of paths.slice(1)) expect(path).toContain('?limit=100&cursor=');
  });

  test('stops at an empty page, and at a page that repeats the cursor of its request', async (context) => {
    const same = await read(context, list, (_, n) => body([record(n)], ['a', 'b', 'b'][n - 1]));
    expect(idsOf(same.result, list)).toHaveLength(3);
    const empty = await read(context, list, (_, n) => body(n < 3 ? [record(n)] : [], `c-${n}`));
    expect(idsOf(empty.result, list)).toHaveLength(2);
    for (const { result } of [same, empty]) expect(result.conclusion).toBe('success');
  });

  const ofKnown = body([record(1), record(2)], 'c-2');
  const ofNew = body([record(3)], 'c-2');
  const more = (fields: Json) => JSON.stringify({ ...JSON.parse(ofNew), ...fields });
  const link = '<https://control.test/v2/more>; rel="next"';
  test.for<[what: string, second: string | Partial<HttpResponse>]>([
    ['has only known records and a new cursor', ofKnown],
    ['has only known records and the cursor that was sent', ofKnown.replace('c-2', 'c-1')],
    ['names unavailable projects', more({ unavailable_project_ids: ['p-2'] })],
    ['has a field “error”', more({ error: 'a shard is down' })],
    ['has a field “errors”', more({ errors: [{ message: 'a shard is down' }] })],
    ['names another page in the header Link, but has no cursor', { body: body([record(3)]), headers: { link } }],
  ])('requests a page up to five times if it %s', async ([, second], context) => {
    const first = body([record(1), record(2)], 'c-1');
    const last = body([record(3)]);
    const recovers = await read(context, list, (_, n) => (n === 1 ? first : n < 6 ? second : last));
    expect(idsOf(recovers.result, list)).toHaveLength(3);
    expect(warningsOf(recovers.result)).toEqual([]);
    const fails = await read(context, list, (_, n) => (n === 1 ? first : second));
    expectError(fails.result, list, /status 200 with an unusable response: the list/);
    for (const { paths } of [recovers, fails])
      expect(paths).toEqual([list.path, ...Array(5).fill(expect.stringContaining('cursor=c-1'))]);
  });
});

/** Ended operations, one a minute; their ids, newest first. */
function past(stage: Stage, count: number): string[] {
  const ages = Array.from({ length: count }, (_, n) => (count - n) * minute);
  return ages.map((ageMs) => stage.operation({ ...ended, ageMs }).id).reverse();
}

test.for([
  [100, 'by default', {}, 1],
  [260, 'with limit: 0', { limit: '0' }, 4],
  [260, 'with fail-on: empty', { 'fail-on': 'empty' }, 4],
  [101, 'with since: 101m', { since: '101m' }, 3],
  [100, 'with since: 3h and limit: 100', { since: '3h', limit: '100' }, 1],
] as const)('list-operations lists %i of 260 operations %s', async ([count, , inputs, requests], context) => {
  const stage = await setStage(context, { operations: 0 });
  const ids = past(stage, 260);
  const result = await stage.runMode('list-operations', { 'project-id': stage.projectId, ...inputs });
  expect(idsOf(result, operations)).toEqual(ids.slice(0, count));
  expect(result.outputs['operation-id']).toBe(ids[0]);
  expect(stage.paths()).toHaveLength(requests);
});

test('list-operations reads pages until limit operations match the filter', async (context) => {
  const stage = await setStage(context, { operations: 0 });
  const older = stage.operation({ ...failsIn(0), ageMs: 600 * minute }).id;
  past(stage, 230);
  const newer = stage.operation({ ...failsIn(0), ageMs: 1_000 }).id;
  const inputs = { 'project-id': stage.projectId, filter: 'status=failed' };
  const run = (more: Inputs) => stage.runMode('list-operations', { ...inputs, ...more });
  const found = async (more: Inputs) => idsOf(await run(more), operations);
  expect(await found({ limit: '1' })).toEqual([newer]);
  expect(stage.paths()).toHaveLength(1);
  expect(await found({ limit: '2' })).toEqual([newer, older]);
});

test('list-projects sends org-id with every page', async (context) => {
  const respond = (_: string, n: number) => projects.body([projects.record(n)], n < 3 ? `c-${n}` : undefined);
  const { paths } = await read(context, projects, respond, { 'org-id': 'org-a&b' });
  const ids = paths.map((path) => new URLSearchParams(path.split('?')[1]).get('org_id'));
  expect(ids).toEqual(Array(3).fill('org-a&b'));
  expect(paths[0]).toBe('projects?org_id=org-a%26b');
});

test('list-projects names its input org-id in the error if a 400 asks for org_id', async (context) => {
  const body = '{"message":"org_id is required"}';
  const { result } = await read(context, projects, () => ({ status: 400, body }));
  expectError(result, projects, /org_id is required.* Set the input org-id\.$/);
});

test('list-keys with older-than lists keys that are older, and keys without a readable creation time', async (context) => {
  const times = [undefined, null, 'yesterday', 0, '2023-10-02T23:59:59Z', '2023-10-03T00:01:00Z'];
  const records = times.map((created_at, n) => ({ id: n, name: n === 0 ? 'other' : 'shop', created_at }));
  const inputs = { 'older-than': '90d', filter: 'name=shop' };
  const { result } = await read(context, keys, keys.body(records), inputs);
  expect(idsOf(result, keys)).toEqual(['1', '2', '3', '4']);
});

const secret = 'ctl_0123456789abcdefghijklmnopqrstuvwxyz';
test.for([
  ['a valid list', 'ok', `[{"id":5,"name":"shop","key":"${secret}"},{"key":"${secret}\\"","id":6}]`],
  ['a record without an id', 'error', `[{"name":"shop","key":"${secret}"}]`],
  ['invalid JSON', 'error', `[{"id":5,"key":"${secret}"},]`],
] as const)('list-keys never shows the text of a key that stands in %s', async ([, status, text], context) => {
  const { result } = await read(context, keys, text);
  expect(result.outputs['status']).toBe(status);
  if (status === 'ok') expect(recordsOf(result, keys)).toEqual([{ id: 5, name: 'shop' }, { id: 6 }]);
  const shown = [result.output, result.log, result.summary, ...Object.values(result.outputs)];
  if (status === 'ok') shown.push(resultFileOf(result));
  expect(shown.join('\n')).not.toContain(secret.slice(0, 12));
});

test.for([
  ['list-projects', projects],
  ['list-keys', keys],
] as const)('%s shows host names and IP addresses only in outputs and result-file', async ([, list], context) => {
  const { result } = await read(context, list, list.body([list.full]), { 'fail-on': 'match' });
  const address = /eu\.db\.example|203\.0\.113\.77/;
  for (const text of [result.outputs[`${list.noun}s`], resultFileOf(result)]) expect(text).toMatch(address);
  expect(result.output + result.summary).not.toMatch(address);
});

test('list-operations outputs the later record of an operation that is listed twice', async (context) => {
  const page = (status: string, other: number, cursor?: string) =>
    operations.body([{ id: uuid(1), status }, operations.record(other)], cursor);
  const respond = (_: string, n: number) => (n === 1 ? page('running', 2, 'c') : page('failed', 3));
  const { result } = await read(context, operations, respond, { limit: '0' });
  expect(recordsOf(result, operations)[0]).toEqual({ id: uuid(1), status: 'failed' });
});

test('the summary of list-operations has a column “Failures” only if an operation had failures', async (context) => {
  const summaryOf = async (record: Json) => (await read(context, operations, operations.body([record]))).result.summary;
  expect(await summaryOf(operations.full)).toMatch(/<th>Failures<\/th>.*\n.*<td><code>2<\/code><\/td>/);
  expect(await summaryOf({ ...operations.full, failures_count: 0 })).not.toContain('Failures');
});

test('the summary of list-keys shows id, name, creation, age and last use of each key', async (context) => {
  const date = 'Sat, 31 Jan 2026 11:40:00 GMT';
  const { result } = await read(context, keys, () => ({
    status: 200,
    headers: { date },
    body: keys.body([keys.full]),
  }));
  const cells = [...result.summary.matchAll(/<t[hd]>(?:<code>)?([^<]*)/g)].map(([, cell]) => cell);
  const shown = ['7', 'shop', '2026-01-31T09:30:00Z', '2h 10m', '2026-03-01T00:00:00Z'];
  expect(cells).toEqual(['Key', 'Name', 'Created', 'Age', 'Last used', ...shown]);
});
