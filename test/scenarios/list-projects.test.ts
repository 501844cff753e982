import { expect, test } from 'vitest';
import type { Fault, NotShown, RunningControlPlane } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { serve } from './service-of-own.js';
import { errorOf, setStage, warningsOf } from './stage.js';

type Listed = Readonly<Record<string, unknown>>;

function json<T>(result: StepResult, output: string): T {
  return JSON.parse(result.outputs[output] ?? '') as T;
}

function idsOf(result: StepResult): string[] {
  return json<string[]>(result, 'project-ids');
}

function fileOf(result: StepResult): string {
  return result.readFile(result.outputs['result-file'] ?? '');
}

function inFile(result: StepResult): { readonly project_ids: string[]; readonly projects: Listed[] } {
  return JSON.parse(fileOf(result)) as ReturnType<typeof inFile>;
}

function pathsOf({ requests }: RunningControlPlane): string[] {
  return requests.map(({ path }) => path.replace(/^\/v2/, ''));
}

function body(projects: readonly Listed[], cursor?: string): string {
  return JSON.stringify({ projects, ...(cursor === undefined ? {} : { pagination: { cursor } }) });
}

function numbered(count: number, more: Listed = {}): Listed[] {
  return Array.from({ length: count }, (_, index) => ({ id: `p-${index}`, ...more }));
}

test.concurrent('all projects, with all their fields, and for a matrix', async (context) => {
  const { service, runMode } = await setStage(context, { projects: 3 });

  const result = await runMode('list-projects');

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toEqual({
    status: 'ok',
    count: '3',
    'project-ids': JSON.stringify(service.projectIds),
    projects: expect.any(String),
    batches: JSON.stringify(service.projectIds.map((id) => [id])),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  const projects = JSON.parse(service.plane.projectsJson) as Listed[];
  expect(Object.keys(projects[0] ?? {})).toHaveLength(12);
  expect(json(result, 'projects')).toEqual(projects);
  expect(JSON.parse(fileOf(result))).toEqual({
    mode: 'list-projects',
    status: 'ok',
    count: 3,
    project_ids: service.projectIds,
    projects,
  });
  expect(pathsOf(service)).toEqual(['/projects']);
  expect(warningsOf(result)).toEqual([]);
  expect(result.annotations).toEqual([]);
});

test.concurrent('an account without projects', async (context) => {
  const { runMode } = await setStage(context, { projects: 0 });
  const result = await runMode('list-projects');
  expect(result.conclusion).toBe('success');
  const empty = { status: 'ok', count: '0', 'project-ids': '[]', projects: '[]', batches: '[]' };
  expect(result.outputs).toMatchObject(empty);
  expect(inFile(result)).toMatchObject({ project_ids: [], projects: [] });
});

// Filters

const known: readonly (Listed & { readonly id: string })[] = [
  {
    id: 'shop-1',
    name: 'shop',
    platform_id: 'aws',
    region_id: 'aws-eu-1',
    provisioner: 'pod',
    pg_version: 15,
    locked: false,
    cpu_used_sec: 0,
    proxy_host: 'eu.db.example',
    branch_logical_size_limit: 204800,
    created_at: '2026-01-31T09:30:00Z',
    updated_at: '2026-02-01T00:00:00Z',
  },
  {
    id: 'docs-1',
    name: 'Docs',
    platform_id: 'azure',
    region_id: 'az-us-1',
    provisioner: 'vm',
    pg_version: 16,
    locked: true,
    cpu_used_sec: 1500,
    proxy_host: 'us.db.example',
    branch_logical_size_limit: 0,
    created_at: '2025-01-31T09:30:00Z',
    updated_at: '2025-02-01T00:00:00Z',
  },
  { id: 'bare-1' },
  { id: 'null-1', name: null, pg_version: null, locked: null, cpu_used_sec: null, region_id: null },
];

const filters: readonly [filter: string, ids: string][] = [
  ['id=shop-1', 'shop-1'],
  ['id!=*-1', ''],
  ['name=shop', 'shop-1'],
  ['name=docs', ''],
  ['name!=shop', 'docs-1 bare-1 null-1'],
  ['name=null', ''],
  ['platform_id=a*', 'shop-1 docs-1'],
  ['region_id=*-eu-?', 'shop-1'],
  ['region_id!=*', 'bare-1 null-1'],
  ['provisioner=vm', 'docs-1'],
  ['pg_version=15', 'shop-1'],
  ['pg_version=1?', 'shop-1 docs-1'],
  ['pg_version!=15', 'docs-1 bare-1 null-1'],
  ['locked=true', 'docs-1'],
  ['locked=false', 'shop-1'],
  ['locked!=true', 'shop-1 bare-1 null-1'],
  ['cpu_used_sec=0', 'shop-1'],
  ['cpu_used_sec=15*', 'docs-1'],
  ['proxy_host=us.*', 'docs-1'],
  ['branch_logical_size_limit=204800', 'shop-1'],
  ['branch_logical_size_limit!=204800', 'docs-1 bare-1 null-1'],
  ['created_at=2026-*', 'shop-1'],
  ['updated_at!=2026-*', 'docs-1 bare-1 null-1'],
  ['pg_version=1*\nlocked!=true', 'shop-1'],
];

for (const [filter, ids] of filters) {
  test.concurrent(`filter ${filter.replace('\n', ' and ')}`, async (context) => {
    const { runMode } = await setStage(context);
    const { baseUrl } = await serve(context, body(known));
    const expected = ids === '' ? [] : ids.split(' ');

    const result = await runMode('list-projects', { 'base-url': baseUrl, filter });

    expect(result.conclusion).toBe('success');
    expect(idsOf(result)).toEqual(expected);
    expect(result.outputs).toMatchObject({ status: 'ok', count: String(expected.length) });
    const projects = known.filter(({ id }) => expected.includes(id));
    expect(json(result, 'projects')).toEqual(projects);
    expect(json(result, 'batches')).toEqual(expected.map((id) => [id]));
    expect(inFile(result)).toMatchObject({ project_ids: expected, projects });
  });
}

test.concurrent('a field that projects do not have is refused, and those that they have are listed', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('list-projects', { filter: 'region=eu', shard: '0/3', limit: '-1', 'fail-on': 'mtach' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain('did you mean region_id?');
  expect(errorOf(result)).toContain('id, name, platform_id, region_id, provisioner, pg_version, locked, cpu_used_sec');
  expect(errorOf(result)).toContain('shard: “0/3”');
  expect(errorOf(result)).toContain('limit: “-1”');
  expect(errorOf(result)).toContain('did you mean match?');
  expect(service.requests).toEqual([]);
});

for (const [failOn, filter, status, count] of [
  ['empty', 'name=nobody', 'empty', '0'],
  ['empty', 'id=*', 'ok', '2'],
  ['match', 'id=*', 'match', '2'],
  ['match', 'name=nobody', 'ok', '0'],
] as const) {
  test.concurrent(`fail-on: ${failOn} with ${filter} ends ${status}`, async (context) => {
    const { service, runMode } = await setStage(context, { projects: 2 });
    const result = await runMode('list-projects', { filter, 'fail-on': failOn });
    expect(result.conclusion).toBe(status === 'ok' ? 'success' : 'failure');
    expect(result.outputs).toMatchObject({ status, count });
    expect(idsOf(result)).toEqual(count === '0' ? [] : service.projectIds);
    expect(JSON.parse(fileOf(result))).toMatchObject({ status, count: Number(count) });
    if (status !== 'ok') expect(errorOf(result)).toContain(`fail-on: ${failOn}`);
  });
}

// How many

for (const [limit, count] of [
  ['', 6],
  ['0', 6],
  ['1', 1],
  ['6', 6],
  ['7', 6],
] as const) {
  test.concurrent(`limit “${limit}” gives ${count} of six`, async (context) => {
    const { service, runMode } = await setStage(context, { projects: 6 });
    const result = await runMode('list-projects', { limit });
    expect(result.outputs).toMatchObject({ status: 'ok', count: String(count) });
    expect(idsOf(result)).toEqual(service.projectIds.slice(0, count));
    expect(json(result, 'projects')).toHaveLength(count);
    expect(inFile(result).projects).toHaveLength(count);
    expect(warningsOf(result)).toEqual(
      limit === '1' ? ['limit: 1 cut the list, but more projects match. Raise limit, or set it to 0 for all.'] : [],
    );
  });
}

test.concurrent('a limit is one of those that the filter admits, and no page is read beyond it', async (context) => {
  const { service, runMode } = await setStage(context, { projects: 0, notShown: { projectsPageSize: 2 } });
  for (const name of ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']) service.plane.addProject({ name });
  const result = await runMode('list-projects', { limit: '2', filter: 'name=a' });
  const all = JSON.parse(service.plane.projectsJson) as Listed[];
  expect(idsOf(result)).toEqual(
    all
      .filter(({ name }) => name === 'a')
      .slice(0, 2)
      .map(({ id }) => id),
  );
  expect(service.requests).toHaveLength(2);
});

// Batches

for (const count of [1, 2, 255, 256, 257, 300, 512, 513, 1000]) {
  test.concurrent(`${count} projects in batches`, async (context) => {
    const { service, runMode } = await setStage(context, { projects: count });
    const result = await runMode('list-projects');
    const batches = json<string[][]>(result, 'batches');
    const sizes = batches.map(({ length }) => length);
    expect(batches.flat()).toEqual(service.projectIds);
    expect(batches.length).toBeLessThanOrEqual(256);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    if (count <= 256) expect(batches).toHaveLength(count);
    expect(inFile(result).projects).toHaveLength(count);
  });
}

for (const [maxBatches, sizes] of [
  ['1', [10]],
  ['3', [3, 3, 4]],
  ['4', [2, 3, 2, 3]],
  ['256', Array(10).fill(1)],
] as const) {
  test.concurrent(`10 projects in at most ${maxBatches} batches`, async (context) => {
    const { service, runMode } = await setStage(context, { projects: 10 });
    const result = await runMode('list-projects', { 'max-batches': maxBatches });
    const batches = json<string[][]>(result, 'batches');
    expect(batches.flat()).toEqual(service.projectIds);
    expect(batches.map(({ length }) => length)).toEqual(sizes);
  });
}

test.concurrent('max-batches is 1 to 256', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const maxBatches of ['0', '257', '-1', '1.5', 'all', '1e2']) {
    const result = await runMode('list-projects', { 'max-batches': maxBatches });
    expect(errorOf(result)).toMatch(`max-batches: “${maxBatches}” is not a valid number of batches; expected 1 to 256`);
  }
  expect(service.requests).toEqual([]);
});

// Shards

test.concurrent('shares are disjoint, cover all, and stay when other projects come and go', async (context) => {
  const { service, runMode } = await setStage(context, { projects: 60, notShown: { projectsPageSize: 25 } });
  const shares = async () =>
    Promise.all(['1/3', '2/3', '3/3'].map(async (shard) => idsOf(await runMode('list-projects', { shard }))));

  const before = await shares();
  expect(before.flat().toSorted()).toEqual(service.projectIds.toSorted());
  for (const share of before) expect(share.length).toBeGreaterThan(5);
  for (const share of before) expect(share).toEqual(service.projectIds.filter((id) => share.includes(id)));

  const gone = service.projectIds.slice(10, 40);
  for (const id of gone) service.plane.removeProject(id);
  const fresh = Array.from({ length: 20 }, () => service.plane.addProject().id);
  const after = await shares();

  expect(after.flat().toSorted()).toEqual(service.plane.projectIds.toSorted());
  for (const [index, share] of after.entries())
    expect(share.filter((id) => !fresh.includes(id))).toEqual(before[index]?.filter((id) => !gone.includes(id)));
});

test.concurrent('a share has its own count, records, batches and file, under filter and limit', async (context) => {
  const { service, runMode } = await setStage(context, { projects: 40 });
  const share = await runMode('list-projects', { shard: '2/2' });
  const ids = idsOf(share);
  expect(share.outputs).toMatchObject({ status: 'ok', count: String(ids.length) });
  expect(json<Listed[]>(share, 'projects').map(({ id }) => id)).toEqual(ids);
  expect(json<string[][]>(share, 'batches').flat()).toEqual(ids);
  expect(inFile(share).project_ids).toEqual(ids);

  const first = await runMode('list-projects', { shard: '2/2', limit: '3' });
  expect(idsOf(first)).toEqual(ids.slice(0, 3));
  const one = await runMode('list-projects', { shard: '2/2', filter: `id=${ids.at(-1)}` });
  expect(idsOf(one)).toEqual(ids.slice(-1));
  const whole = await runMode('list-projects', { shard: '1/1' });
  expect(idsOf(whole)).toEqual(service.projectIds);
  const other = await runMode('list-projects', { shard: '1/2', filter: `id=${ids[0]}`, 'fail-on': 'empty' });
  expect(other.outputs).toMatchObject({ status: 'empty', count: '0' });
});

for (const shard of [
  '0/3',
  '4/3',
  'x',
  '3/0',
  '0/0',
  '3',
  '/3',
  '3/',
  '1/2/3',
  '-1/3',
  '1.5/3',
  '1e1/30',
  '\u0024{{ x }}',
]) {
  test.concurrent(`shard ${shard} is refused before anything is sent`, async (context) => {
    const { service, runMode } = await setStage(context);
    const result = await runMode('list-projects', { shard });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(`shard: “${shard}”`);
    expect(errorOf(result)).toContain('3/256');
    expect(service.requests).toEqual([]);
  });
}

// What outputs can hold

const most = 100 * 1024;

/** Projects whose JSON array has exactly so many bytes. */
function ofBytes(bytes: number, filler = 'x'): Listed[] {
  const projects = numbered(10, { name: '' });
  const left = bytes - Buffer.byteLength(JSON.stringify(projects));
  const size = Buffer.byteLength(filler);
  const name = filler.repeat(Math.floor(left / size)) + 'x'.repeat(left % size);
  return [{ id: 'p-0', name }, ...projects.slice(1)];
}

for (const [what, filler] of [
  ['ASCII', 'x'],
  ['two bytes a character', 'é'],
  ['emoji', '🙂'],
] as const) {
  for (const over of [-1, 0, 1]) {
    test.concurrent(`records of 100 KiB ${over < 0 ? '' : '+'}${over} in ${what}`, async (context) => {
      const { runMode } = await setStage(context);
      const projects = ofBytes(most + over, filler);
      expect(Buffer.byteLength(JSON.stringify(projects))).toBe(most + over);
      const { baseUrl } = await serve(context, body(projects));

      const result = await runMode('list-projects', { 'base-url': baseUrl });

      expect(result.conclusion).toBe('success');
      expect(result.outputs['projects']).toBe(over < 0 ? JSON.stringify(projects) : '');
      expect(result.outputs).toMatchObject({
        count: '10',
        'project-ids': JSON.stringify(projects.map(({ id }) => id)),
      });
      expect(json(result, 'batches')).toHaveLength(10);
      expect(inFile(result).projects).toEqual(projects);
      if (over < 0) expect(warningsOf(result)).toEqual([]);
      else expect(warningsOf(result)).toMatchObject([expect.stringMatching(/: projects\..*result-file.*shard/)]);
    });
  }
}

test.concurrent('ids that are too many beside the batches are left out, then the batches; nothing is cut', async (context) => {
  const { runMode } = await setStage(context);
  // Of 2,000 projects the ids take about 2,000 units for each character.
  for (const [length, left] of [
    [90, ''],
    [110, 'projects, project-ids'],
    [210, 'projects, project-ids, batches'],
  ] as const) {
    const ids = Array.from({ length: 2_000 }, (_, index) => String(index).padStart(length, 'p'));
    const { baseUrl } = await serve(context, body(ids.map((id) => ({ id }))));

    const result = await runMode('list-projects', { 'base-url': baseUrl });

    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'ok', count: '2000' });
    const dropped = left === '' ? ['projects'] : left.split(', ');
    for (const name of ['projects', 'project-ids', 'batches'])
      if (dropped.includes(name)) expect(result.outputs[name], `${length}: ${name}`).toBe('');
    if (!dropped.includes('project-ids')) expect(idsOf(result)).toEqual(ids);
    if (!dropped.includes('batches')) expect(json<string[][]>(result, 'batches').flat()).toEqual(ids);
    const units = Object.values(result.outputs).reduce((sum, value) => sum + value.length, 0);
    expect(units).toBeLessThan(400 * 1024);
    expect(inFile(result).project_ids).toEqual(ids);
    expect(inFile(result).projects).toHaveLength(2_000);
    expect(warningsOf(result)).toHaveLength(1);
    for (const word of [...dropped, 'result-file', 'shard']) expect(warningsOf(result)[0]).toContain(word);
  }
});

// Paging

/** The requests of a list in pages: bare first, then with limit and the cursor before. */
function expectPaging(service: RunningControlPlane): void {
  const [first, ...following] = pathsOf(service);
  expect(first).toBe('/projects');
  for (const path of following) expect(path).toMatch(/^\/projects\?limit=100&cursor=[^&+: ]+$/);
  expect(new Set(following).size).toBe(following.length);
}

for (const lastPageCursor of ['given', 'absent', 'null', 'empty', 'repeated'] as const) {
  for (const cursorZone of ['Z', '+00:00'] as const) {
    test.concurrent(`pages whose last cursor is ${lastPageCursor}, ending in ${cursorZone}`, async (context) => {
      const notShown: Partial<NotShown> = { projectsPageSize: 100, lastPageCursor, cursorZone };
      for (const count of [0, 1, 100, 101, 250]) {
        const { service, runMode } = await setStage(context, { projects: count, notShown });
        const result = await runMode('list-projects');
        expect(result.conclusion).toBe('success');
        expect(idsOf(result)).toEqual(service.projectIds);
        expect(inFile(result).projects).toEqual(JSON.parse(service.plane.projectsJson));
        expectPaging(service);
        expect(service.requests.length).toBeLessThanOrEqual(Math.max(1, Math.ceil(count / 100)) + 1);
        // The cursor of the only page leads back to it, as it does where the service ignores cursors.
        const leadsBack = lastPageCursor === 'repeated' && count > 0 && count <= 100;
        expect(warningsOf(result)).toMatchObject(leadsBack ? [expect.stringContaining('may be incomplete')] : []);
      }
    });
  }
}

test.concurrent('a first page of another size, and a service that gives less than asked for', async (context) => {
  for (const notShown of [
    { projectsPageSize: 7 },
    { projectsPageSize: 30, maximumPageSize: 30, overMaximum: 'clamp' },
    { projectsPageSize: 400 },
  ] as const) {
    const { service, runMode } = await setStage(context, { projects: 211, notShown });
    const result = await runMode('list-projects');
    expect(idsOf(result)).toEqual(service.projectIds);
    expectPaging(service);
  }
});

test.concurrent('cursors of any text go back as they came', async (context) => {
  const { runMode } = await setStage(context);
  const cursors = ['a b+c&d=e%25/?#', '2026-01-31T09:30:00.123456+00:00', '🙂"\n', '9007199254740993'];
  const asked: (string | null)[] = [];
  const { baseUrl, paths } = await serve(context, (path, n) => {
    asked.push(new URLSearchParams(path.replace(/^projects\??/, '')).get('cursor'));
    return body([{ id: `p-${n}` }], cursors[n - 1]);
  });
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(idsOf(result)).toEqual(['p-1', 'p-2', 'p-3', 'p-4', 'p-5']);
  expect(asked).toEqual([null, ...cursors]);
  expect(paths[0]).toBe('projects');
});

test.concurrent('a cursor that comes again later ends the list, as does an empty page with a cursor', async (context) => {
  const { runMode } = await setStage(context);
  const circle = await serve(context, (_, n) => body([{ id: `p-${n}` }], ['a', 'b', 'c'][(n - 1) % 3]));
  const circled = await runMode('list-projects', { 'base-url': circle.baseUrl });
  expect(idsOf(circled)).toEqual(['p-1', 'p-2', 'p-3', 'p-4']);
  expect(circle.paths).toHaveLength(4);

  const empty = await serve(context, (_, n) => body(n < 3 ? [{ id: `p-${n}` }] : [], `c-${n}`));
  const ended = await runMode('list-projects', { 'base-url': empty.baseUrl });
  expect(idsOf(ended)).toEqual(['p-1', 'p-2']);
  expect(empty.paths).toHaveLength(3);
});

test.concurrent('what a page repeats of the page before is given once', async (context) => {
  const { runMode } = await setStage(context);
  // Pages by offset, with two more projects at the head each time.
  const { baseUrl } = await serve(context, (_, n) => {
    const list = [...Array.from({ length: 2 * (n - 1) }, (__, index) => `new-${index}`).reverse()];
    list.push(...Array.from({ length: 40 }, (__, index) => `p-${index}`));
    const page = list.slice((n - 1) * 10, n * 10);
    return body(
      page.map((id) => ({ id })),
      page.length === 0 ? undefined : String(n),
    );
  });
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  const ids = idsOf(result);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(Array.from({ length: 40 }, (_, index) => `p-${index}`));
  expect(result.outputs).toMatchObject({ count: '40' });
});

test.concurrent('a list that changes while it is read loses and doubles nothing that was there throughout', async (context) => {
  for (const shard of ['', '1/2']) {
    const gone: string[] = [];
    const { service, runMode } = await setStage(context, {
      projects: 300,
      notShown: { projectsPageSize: 100, maximumPageSize: 100 },
      onExchange: ({ n }) => {
        // In front of the reader and behind it, at its cursor too.
        for (let left = 30; left > 0; left--) service.plane.addProject();
        for (const at of [0, n * 100 - 1, n * 100, n * 100 + 50, n * 50]) {
          const id = service.projectIds[at];
          if (id !== undefined) gone.push(id);
          if (id !== undefined) service.plane.removeProject(id);
        }
      },
    });

    const result = await runMode('list-projects', { shard });

    const ids = idsOf(result);
    expect(new Set(ids).size).toBe(ids.length);
    expect(service.requests.length).toBeGreaterThanOrEqual(3);
    const throughout = service.projectIds.filter((id) => !gone.includes(id));
    if (shard === '') for (const id of throughout) expect(ids).toContain(id);
    else expect(ids.filter((id) => throughout.includes(id)).length).toBeGreaterThan(90);
    expect(inFile(result).projects.map(({ id }) => id)).toEqual(ids);
  }
});

// Digits

test.concurrent('integers beyond 2^53 keep their digits in outputs, file, filters and summary, and ids are strings', async (context) => {
  const { runMode } = await setStage(context);
  const records = [
    '{"id":9007199254740993,"name":"a","cpu_used_sec":123456789012345678901234567890}',
    '{"id":9007199254740995,"name":"“9007199254740997”","branch_logical_size_limit":-9007199254740993}',
    '{"id":7,"name":"b","of_tomorrow":{"deep":[18446744073709551615,"18446744073709551615"]}}',
  ];
  const { baseUrl } = await serve(context, `{"projects": [${records}]}`);

  const result = await runMode('list-projects', { 'base-url': baseUrl });
  const ids = ['9007199254740993', '9007199254740995', '7'];
  expect(result.outputs).toMatchObject({
    count: '3',
    'project-ids': JSON.stringify(ids),
    batches: JSON.stringify(ids.map((id) => [id])),
    projects: `[${records}]`,
  });
  expect(fileOf(result)).toBe(
    `{"mode":"list-projects","status":"ok","count":3,"project_ids":${JSON.stringify(ids)},"projects":[${records}]}\n`,
  );
  expect(result.summary).toContain('<code>9007199254740993</code>');

  for (const [filter, expected] of [
    ['id=9007199254740995', ['9007199254740995']],
    ['id!=9007199254740992', ids],
    ['cpu_used_sec=123456789012345678901234567890', ['9007199254740993']],
    ['branch_logical_size_limit=-9007199254740993', ['9007199254740995']],
  ] as const) {
    const one = await runMode('list-projects', { 'base-url': baseUrl, filter });
    expect(idsOf(one), filter).toEqual(expected);
  }
  const shares = ['1/2', '2/2'].map((shard) => runMode('list-projects', { 'base-url': baseUrl, shard }));
  expect((await Promise.all(shares)).flatMap(idsOf).toSorted()).toEqual(ids.toSorted());
});

test.concurrent('digits within texts stay texts', async (context) => {
  const { runMode } = await setStage(context);
  const records = [
    '{"id":"9007199254740993","name":"\\"12345678901234567,\\\\"}',
    '{"id":"b","name":"\\\\\\":12345678901234567","more":["[12345678901234567]",-12345678901234567]}',
    '{"id":"c","12345678901234567":"{12345678901234567:12345678901234567}"}',
  ];
  const { baseUrl } = await serve(context, `{"projects":[${records}]}`);
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ projects: `[${records}]`, 'project-ids': '["9007199254740993","b","c"]' });
  expect(fileOf(result)).toContain(`"projects":[${records}]}`);
});

test.concurrent('a cursor that is a long integer goes back with its digits', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl, paths } = await serve(context, (_, n) =>
    n === 1 ? '{"projects":[{"id":"a"}],"pagination":{"cursor":9007199254740993}}' : body([{ id: 'b' }]),
  );
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(idsOf(result)).toEqual(['a', 'b']);
  expect(paths).toEqual(['projects', 'projects?limit=100&cursor=9007199254740993']);
});

test.concurrent('a project that one body lists twice is one', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, body([{ id: 'a', name: '1' }, { id: 'b' }, { id: 'a', name: '2' }]));
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ count: '2', 'project-ids': '["a","b"]', batches: '[["a"],["b"]]' });
  expect(inFile(result).projects).toEqual([{ id: 'a', name: '1' }, { id: 'b' }]);
});

// Names

test.concurrent('the key in a record goes nowhere, and leaves JSON behind', async (context) => {
  const { service, runMode } = await setStage(context);
  const key = service.apiKey;
  const projects = [{ id: 'a', name: `x${key}"`, region_id: key, pg_version: `${key}\n` }, { id: `b-${key}` }];
  const { baseUrl } = await serve(context, body(projects));
  const result = await runMode('list-projects', { 'base-url': baseUrl }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'ok', count: '2' });
  expect(idsOf(result)).toHaveLength(2);
  expect(inFile(result).projects).toHaveLength(2);
  expect(json(result, 'projects')).toHaveLength(2);
  const told = [...result.lines.map(({ text }) => text).filter((line) => !line.startsWith('::add-mask::'))];
  told.push(result.log, result.summary, fileOf(result), ...Object.values(result.outputs));
  expect(told.join('\n')).not.toContain(key);
});

const attacks: Readonly<Record<string, string>> = {
  'a command': '::error::HACKED',
  'commands on lines of their own':
    'x\n::set-output name=status::HACKED\r::add-mask::ok\r\n::stop-commands::HACKED\n##[error]HACKED',
  'an output': 'x\nghadelimiter\nstatus=HACKED\nstatus<<EOF\nHACKED\nEOF',
  'an expression': '\u0024{{ github.token }} \u0024{{ toJSON(secrets) }} HACKED',
  'a script': `"; echo HACKED; ' $(id) \`id\` \\" %0A::error::HACKED`,
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>HACKED</script><!-- <details>',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b** @octocat #1',
  'cells and fences': '| a | b |\n|---|---|\n`x` ``` HACKED\n```mermaid\ngraph TD',
  'colours and marks of direction': '\u001b[31mHACKED\u001b[2J\u009b1;1H\u202Egnp.exe\u2066\u2069\u200F\u061C',
  'emoji and marks': 'HACKED 👩‍👩‍👧‍👦🏳️‍🌈 é\u0301 \u{1F1E9}\u{1F1EA} \u2028\u2029\u0085 \uFEFF',
  'a lone surrogate': 'HACKED \uD83D and \uDE42 \u0000',
};

for (const [what, text] of Object.entries(attacks)) {
  test.concurrent(`${what} in every text of a project is text`, async (context) => {
    const { runMode } = await setStage(context);
    const fields = ['id', 'name', 'platform_id', 'region_id', 'provisioner', 'pg_version', 'created_at', 'updated_at'];
    const record = Object.fromEntries([...fields, 'of_tomorrow'].map((name) => [name, text]));
    const { baseUrl } = await serve(context, body([record]));

    const result = await runMode('list-projects', { 'base-url': baseUrl, 'fail-on': 'match' }, { debug: true });

    expect(result.outputs).toMatchObject({ status: 'match', count: '1' });
    expect(idsOf(result)).toEqual([text]);
    expect(json(result, 'batches')).toEqual([[text]]);
    expect(json(result, 'projects')).toEqual([record]);
    expect(inFile(result).projects).toEqual([record]);
    expect(result.outputs['project-ids']).not.toMatch(/[\r\n]/);
    const own = result.commands.map(({ name }) => name).filter((name) => name !== 'debug');
    expect(own).toEqual(['add-mask', 'error']);
    expect(result.masks).toHaveLength(1);
    expect(result.invalid).toEqual([]);
    expect(result.output).not.toContain('HACKED');
    expect(result.summary).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    const bare = result.summary.replace(/<code>[^<>\n]*<\/code>/g, '').replace(/<\/?(?:p|br|table|tr|th|td)>/g, '');
    expect(bare).not.toMatch(/[<>]|HACKED|evil/);
    expect(result.summary).not.toMatch(/<\/?p>\n\s*\n[^\n]|<table>[\s\S]*\n\s*\n[\s\S]*<\/table>/);
  });
}

test.concurrent('host names go to outputs and result-file alone', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, body(known));
  for (const inputs of [{}, { 'fail-on': 'match' }, { filter: 'proxy_host=*' }, { shard: '1/1' }]) {
    const result = await runMode('list-projects', { 'base-url': baseUrl, ...inputs }, { debug: true });
    expect(result.outputs['projects']).toContain('eu.db.example');
    expect(fileOf(result)).toContain('eu.db.example');
    expect(result.output + result.summary).not.toContain('db.example');
  }
});

// The summary

test.concurrent('the summary has the first fifty, and counts by region and version', async (context) => {
  const { runMode } = await setStage(context);
  const projects = numbered(120).map((project, index) => ({
    ...project,
    name: `shop-${index}`,
    region_id: index < 70 ? 'eu-1' : index < 119 ? 'us-1' : undefined,
    pg_version: index % 3 === 0 ? 15 : 16,
    created_at: '2026-01-31T09:30:00.123Z',
  }));
  const { baseUrl } = await serve(context, body(projects));

  const { summary } = await runMode('list-projects', { 'base-url': baseUrl });

  expect(summary).toMatch(/^### ✅ list-projects: 120 projects\n/);
  expect(summary).toContain('By region: <code>eu-1</code> 70, <code>us-1</code> 49, none 1.');
  expect(summary).toContain('By version: <code>16</code> 80, <code>15</code> 40.');
  expect(summary.match(/<tr>/g)).toHaveLength(51);
  expect(summary).toContain('And 70 more.');
  const cells = ['p-0', 'shop-0', 'eu-1', '15', '2026-01-31 09:30:00Z'];
  expect(summary).toContain(`<tr>${cells.map((cell) => `<td><code>${cell}</code></td>`).join('')}</tr>`);
  expect(summary).toContain('<code>p-49</code>');
  expect(summary).not.toContain('<code>p-50</code>');
});

for (const [what, text] of Object.entries({
  'long names': 'x'.repeat(500),
  'names of quotes': '"'.repeat(500),
  'names of brackets': '<>'.repeat(250),
  'names in three bytes a character': '漢'.repeat(500),
  'names of quotes and of three bytes a character': '"漢漢"'.repeat(125),
  'names of one quote in three': '"漢漢'.repeat(150),
  'names of emoji': '🙂'.repeat(250),
})) {
  test.concurrent(`the summary of 200 projects with ${what} stays under 64 KiB`, async (context) => {
    const { runMode } = await setStage(context);
    // Regions and versions are many, and differ only where it shows.
    const projects = numbered(200).map(({ id }, index) => {
      const own = text + String(index % 100);
      return { id: text + id, name: text, region_id: own, pg_version: own, created_at: own };
    });
    const { baseUrl } = await serve(context, body(projects));
    const result = await runMode('list-projects', { 'base-url': baseUrl });
    expect(result.outputs).toMatchObject({ status: 'ok', count: '200' });
    expect(Buffer.byteLength(result.summary)).toBeLessThan(64 * 1024);
    expect(result.summary).toMatch(/others \d/);
    expect(result.summary).toMatch(/And \d+ more\./);
  });
}

// Records and answers that are unusable

test.concurrent('all of a record but its id may be missing, and what is more passes through', async (context) => {
  const { runMode } = await setStage(context);
  const records = ['{"id":"a"}', '{"id":"b","name":null,"pg_version":null}', '{"id":"c","name":{},"__proto__":[1e2]}'];
  const { baseUrl } = await serve(context, `{"more":1,"projects":[${records}],"pagination":null}`);
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ status: 'ok', 'project-ids': '["a","b","c"]' });
  expect(json<Listed[]>(result, 'projects')[2]).toEqual(JSON.parse(records[2] ?? ''));
});

const unusable: readonly [what: string, body: string, place: string][] = [
  ['a record without an id', '{"projects":[{"id":"a"},{"name":"shop"}]}', '`projects[1].id` should be a string'],
  ['a record whose id is null', '{"projects":[{"id":null}]}', '`projects[0].id`'],
  ['a record whose id is empty', '{"projects":[{"id":""}]}', '`projects[0].id`'],
  ['a record whose id is a list', '{"projects":[{"id":["a"]}]}', '`projects[0].id`'],
  ['a record that is a text', '{"projects":["a"]}', '`projects[0]` should be an object'],
  ['a record that is null', '{"projects":[{"id":"a"},null]}', '`projects[1]` should be an object'],
  ['no list but null', '{"projects": null}', '`projects` should be an array, but is null'],
  ['no list but an object', '{"projects": {}}', '`projects` should be an array'],
  ['an object without projects', '{}', '`projects` should be an array'],
  ['null', 'null', '`projects` is missing: the body is not an object'],
  ['a text', '"projects"', '`projects` is missing: the body is not an object'],
  ['a number', '0', '`projects` is missing: the body is not an object'],
  ['a cursor that is an object', '{"projects":[{"id":"a"}],"pagination":{"cursor":{}}}', '`pagination.cursor`'],
  ['pagination that is a text', '{"projects":[{"id":"a"}],"pagination":"more"}', '`pagination.cursor`'],
];

for (const [what, text, place] of unusable) {
  test.concurrent(`${what} is an error that names the place`, async (context) => {
    const { runMode } = await setStage(context);
    const { baseUrl, paths } = await serve(context, text);
    const result = await runMode('list-projects', { 'base-url': baseUrl });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.outputs).not.toHaveProperty('project-ids');
    expect(errorOf(result)).toContain(place);
    expect(errorOf(result)).toContain('GET /v2/projects');
    expect(paths).toEqual(['projects']);
  });
}

test.concurrent('a bare array is an error that does not call an array none', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, '[{"id":"a"}]');
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain('`projects` is missing: the body is an array');
});

test.concurrent('an unusable record on a later page is an error, not the end of the list', async (context) => {
  const { runMode } = await setStage(context);
  const { baseUrl } = await serve(context, (_, n) => body([n < 3 ? { id: `p-${n}` } : { name: 'x' }], `c-${n}`));
  const result = await runMode('list-projects', { 'base-url': baseUrl });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.outputs).not.toHaveProperty('count');
  expect(errorOf(result)).toContain('`projects[0].id`');
});

test.concurrent('a page of HTML is called so', async (context) => {
  const { runMode } = await setStage(context);
  const page = '<!doctype html><title>Sign in</title>';
  const { baseUrl } = await serve(context, page, { 'content-type': 'text/html' });
  const result = await runMode('list-projects', { 'base-url': baseUrl }, { nodeArgs: quickDice });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/HTML page “Sign in”/);
});

test.concurrent('a key that is not accepted is told what to do', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('list-projects', { 'api-key': 'a-key-that-nobody-made' });
  expect(errorOf(result)).toMatch(/401.*UNAUTHORIZED.*request id.*api-key/s);
  expect(service.requests).toHaveLength(1);
});

test.concurrent('inputs of other modes are ignored with one warning', async (context) => {
  const { runMode } = await setStage(context);
  const result = await runMode('list-projects', { since: 'soon', 'project-id': 'x/y', 'key-id': 'nonsense' });
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toHaveLength(1);
  for (const name of ['since', 'project-id', 'key-id']) expect(warningsOf(result)[0]).toContain(name);
});

// Faults

const passing: Readonly<Record<string, Fault>> = {
  '429 with Retry-After': { kind: 'status', status: 429, retryAfter: { seconds: 1 } },
  'a body cut short': { kind: 'cut-mid-body' },
};

for (const [what, fault] of Object.entries(passing)) {
  test.concurrent(`${what} amid pages is read again; for ever, it is an error and never a shorter list`, async (context) => {
    const { service, runMode } = await setStage(context, { projects: 5, notShown: { projectsPageSize: 2 } });
    const options = { nodeArgs: quickDice };

    const remove = service.faults.add({ nth: 2, fault });
    const once = await runMode('list-projects', { 'request-timeout': '1s' }, options);
    remove();
    expect(idsOf(once)).toEqual(service.projectIds);
    expect(service.requests[2]?.path).toBe(service.requests[1]?.path);
    if (what.startsWith('429')) {
      const [second, third] = [service.requests[1], service.requests[2]];
      // From its arrival: a busy machine notes the end of a response after the client has it.
      expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(990);
    }

    service.faults.add({ from: 2, fault });
    const forEver = await runMode('list-projects', { 'request-timeout': '1s', timeout: '8s' }, options);
    expect(forEver.conclusion).toBe('failure');
    expect(forEver.outputs).toMatchObject({ status: 'error' });
    expect(forEver.outputs).not.toHaveProperty('count');
    expect(forEver.outputs).not.toHaveProperty('project-ids');
    expect(errorOf(forEver)).toContain('GET /v2/projects');
  });
}

for (const status of [204, 401, 403, 404, 410]) {
  test.concurrent(`${status} on a later page is an error and never the end of the list`, async (context) => {
    const text = status === 204 ? '' : '{"projects":[]}';
    const { runMode, service } = await setStage(context, {
      projects: 5,
      notShown: { projectsPageSize: 2 },
      faults: [{ from: 2, fault: { kind: 'status', status, body: text } }],
    });
    const result = await runMode('list-projects', {}, { nodeArgs: quickDice });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.outputs).not.toHaveProperty('count');
    expect(errorOf(result)).toContain(String(status));
    expect(service.requests.length).toBeLessThanOrEqual(6);
  });
}

test.concurrent('a redirect amid pages is not followed', async (context) => {
  const { runMode, service } = await setStage(context, { projects: 5, notShown: { projectsPageSize: 2 } });
  service.faults.add({ nth: 2, fault: { kind: 'redirect', location: 'https://elsewhere.example/login?token=x' } });
  const result = await runMode('list-projects');
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain('https://elsewhere.example/login');
  expect(errorOf(result)).not.toContain('token');
  expect(service.requests).toHaveLength(2);
});

test.concurrent('a Retry-After beyond the deadline ends the step at once', async (context) => {
  const { runMode, service } = await setStage(context, {
    projects: 5,
    notShown: { projectsPageSize: 2 },
    faults: [{ from: 2, fault: { kind: 'status', status: 429, retryAfter: { seconds: 600 } } }],
  });
  const result = await runMode('list-projects', { timeout: '1m' });
  expect(result.overran).toBe(false);
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/429.*asks to wait 10m/s);
  expect(service.requests).toHaveLength(2);
});

// Each alone, as it is a matter of time

test('a cancel amid pages ends the step red, without an error and without half a list', async (context) => {
  const { service, startMode } = await setStage(context, {
    projects: 5,
    notShown: { projectsPageSize: 2 },
    faults: [{ nth: 2, fault: { kind: 'hang-before-headers' } }],
  });
  const step = startMode('list-projects');
  await reach(step, service.arrived({ n: 2 }));
  step.kill('SIGTERM');
  const result = await step.done;
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.outputs).not.toHaveProperty('project-ids');
  expect(result.annotations).toEqual([]);
  expect(result.exitCode).toBe(1);
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
});

test('the deadline amid pages ends the step', async (context) => {
  const { runMode } = await setStage(context, {
    projects: 5,
    notShown: { projectsPageSize: 2 },
    faults: [{ from: 2, fault: { kind: 'drip', intervalMs: 100 } }],
  });
  const result = await runMode('list-projects', { timeout: '800ms' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.outputs).not.toHaveProperty('project-ids');
  expect(errorOf(result)).toMatch(/Timed out after 800ms/);
  expect(result.ms).toBeLessThan(2_800);
});
