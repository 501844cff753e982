import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harm } from './harm.js';
import { projectId, type Service, step } from './in-process.js';
import { json, nested, printedObject, record } from './texts.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const other = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';

const operation = record({
  id: `"${id}"`,
  project_id: `"${projectId}"`,
  branch_id: '"br-1"',
  action: '"create_branch"',
  status: '"finished"',
  failures_count: '0',
  created_at: '"2024-01-01T00:00:00Z"',
  updated_at: '"2024-01-01T00:00:09Z"',
});
const project = record({ id: '"p-1"', name: '"shop"', region_id: '"eu"', pg_version: '16' });
const key = record({ id: '7', name: '"a key"', created_at: '"2024-01-01T00:00:00Z"' });

/** What `one` says, as a whole, or as part of something larger that may be wrong as well. */
function body(one: fc.Arbitrary<string>, wrap: (one: string) => string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: one.map(wrap) },
    { weight: 1, arbitrary: one },
    { weight: 1, arbitrary: json },
    { weight: 1, arbitrary: one.map((text) => wrap(text).slice(0, -1)) },
  );
}

const ok = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 999 }) },
);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** By other means than those of the action. */
function isProof(status: number, said: string): boolean {
  const whole = parsed(said);
  const one = fields(fields(whole)['operation']);
  return (
    status >= 200 &&
    status < 300 &&
    status !== 206 &&
    one['id'] === id &&
    (one['status'] === 'finished' || one['status'] === 'skipped') &&
    [undefined, null, projectId].includes(one['project_id'] as string | null | undefined)
  );
}

test('whatever is said of an operation, the wait ends well only by what proves it', async () => {
  const answer = fc.record({ status: ok, body: body(operation, (one) => `{"operation":${one}}`) });
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 3 }), async (answers) => {
      const service: Service = (_, n) => answers[Math.min(n, answers.length - 1)] ?? {};
      const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': id }, service);
      expect(harm(told, told.succeeded)).toEqual([]);
      if (told.succeeded) expect(answers.some(({ status, body }) => isProof(status, body))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('what would be JSON, were its escapes undone, is none', async () => {
  const whole = `{"operation":{"id":"${id}","status":"finished"}}`;
  const escaped = whole.replaceAll('{', '\\u007b').replaceAll('}', '\\u007d');
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': id }, () => ({
    status: 200,
    body: escaped,
  }));
  expect(harm(told, told.succeeded)).toEqual([]);
  expect(told.outputs['status']).toBe('error');
});

test('a list of operations of any shape is waited for, or refused', async () => {
  const list = fc.array(operation, { maxLength: 4 }).map((all) => `[${all}]`);
  const answer = fc.record({ status: ok, body: body(list, (all) => `{"operations":${all},"pagination":{}}`) });
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
      const service: Service = (_, n) => answers[Math.min(n, answers.length - 1)] ?? {};
      const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': 'all' }, service);
      expect(harm(told, told.succeeded)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

const lists = [
  { mode: 'list-operations', one: operation, name: 'operation' },
  { mode: 'list-projects', one: project, name: 'project' },
  { mode: 'list-keys', one: key, name: 'key' },
];

for (const { mode, one, name } of lists) {
  test(`${mode}: what comes out is JSON, and is what came in`, async () => {
    const list = fc.array(one, { maxLength: 4 }).map((all) => `[${all}]`);
    const cursor = fc.oneof(fc.constant('null'), json);
    const whole = fc
      .tuple(list, cursor)
      .chain(([all, at]) =>
        body(fc.constant(all), (text) =>
          name === 'key' ? text : `{"${name}s":${text},"pagination":{"cursor":${at}}}`,
        ),
      );
    await fc.assert(
      fc.asyncProperty(fc.record({ status: ok, body: whole }), async (answer) => {
        const told = await step({ mode, 'project-id': projectId, filter: 'id!=none' }, () => answer);
        expect(harm(told, told.succeeded)).toEqual([]);
        if (!told.succeeded) return;
        const said = parsed(answer.body);
        const listed = name === 'key' ? said : fields(said)[`${name}s`];
        const ids = JSON.parse(told.outputs[`${name}-ids`] ?? '') as unknown[];
        const came = (listed as unknown[]).map((item) => fields(item)['id']);
        expect(ids.length).toBe(new Set(came).size);
        expect(ids.filter((value) => value === null || value === '')).toEqual([]);
        expect(told.outputs['count']).toBe(String(ids.length));
        const records = told.outputs[`${name}s`] ?? '';
        if (records !== '') expect(JSON.parse(records)).toHaveLength(ids.length);
      }),
      { numRuns: 50 },
    );
  });
}

test('a create makes a key of what is one, and nothing else becomes its secret', async () => {
  const made = record({ id: '7', key: '"minted-0123456789abcdef"' });
  const answer = fc.record({ status: ok, body: body(made, (one) => one) });
  await fc.assert(
    fc.asyncProperty(answer, json, async (created, listed) => {
      const service: Service = ({ method }) => (method === 'POST' ? created : { body: listed });
      const told = await step({ mode: 'create-key' }, service);
      expect(harm(told, told.succeeded)).toEqual([]);
      expect(told.outputs['key'] === '').toBe(!told.succeeded);
      if (told.succeeded) expect(told.masks).toContain(told.outputs['key']);
      expect(told.state['key'], 'post finds it').toMatch(/^[0-9a-f]{64}\{"baseUrl"|^nothing-to-revoke$/);
    }),
    { numRuns: 50 },
  );
});

test.each(['o', 'a', '-', '1234567'])('a minted key “%s” is never masked, and is no key', async (short) => {
  const service: Service = ({ method }) => ({ body: method === 'POST' ? `{"id":7,"key":"${short}"}` : '[]' });
  const told = await step({ mode: 'create-key' }, service);
  expect(harm(told, false)).toEqual([]);
  expect(told.outputs).toMatchObject({ status: 'error', key: '' });
  expect(told.masks).not.toContain(short);
});

test('a key is gone only where the service says so, or shows a list without it', async () => {
  const gone = record({ id: '7', name: '"a key"', revoked: 'true' });
  const answer = fc.record({ status: ok, body: body(gone, (one) => one) });
  const list = fc.record({
    status: ok,
    body: body(
      fc.array(key, { maxLength: 3 }).map((all) => `[${all}]`),
      (all) => all,
    ),
  });
  await fc.assert(
    fc.asyncProperty(answer, list, async (deleted, listed) => {
      const service: Service = ({ method }) => (method === 'DELETE' ? deleted : listed);
      const told = await step({ mode: 'revoke-key', 'key-id': '7' }, service);
      expect(harm(told, told.succeeded)).toEqual([]);
      if (!told.succeeded) return;
      const saysSo = fields(parsed(deleted.body))['revoked'] === true;
      const shown = parsed(listed.body);
      const isAbsent =
        listed.status === 200 &&
        Array.isArray(shown) &&
        !shown.some((one) => [7, '7'].includes(fields(one)['id'] as number | string));
      expect(saysSo || isAbsent).toBe(true);
    }),
    { numRuns: 50 },
  );
});

const deep = nested(6_000);

test.each([
  ['list-projects', `{"projects":[{"id":"p","settings":${deep}}]}`],
  ['list-operations', `{"operations":[{"id":"${id}","status":"running","settings":${deep}}]}`],
  ['list-keys', `[{"id":7,"settings":${deep}}]`],
  ['wait-operation', `{"operation":{"id":"${id}","status":"finished","settings":${deep}}}`],
])('%s: JSON that no printer could print is an answer that cannot be used', async (mode, said) => {
  const told = await step({ mode, 'project-id': projectId, 'operation-id': id }, () => ({ body: said }));
  expect(harm(told, false)).toEqual([]);
  expect(told.annotations.find(({ kind }) => kind === 'error')?.message).toMatch(
    /status 200 with .* nested too deeply/,
  );
});

test('an error that is nested deeply is an error like others', async () => {
  const told = await step({ mode: 'list-keys' }, () => ({ status: 400, body: `{"message":${deep}}` }));
  expect(harm(told, false)).toEqual([]);
});

test('no text that is no JSON is taken, however far its fault is from a number', async () => {
  const far = `{"projects":[{"id":"p",12345678901234567890${' '.repeat(200)}:1}]}`;
  const told = await step({ mode: 'list-projects' }, () => ({ body: far }));
  expect(harm(told, false)).toEqual([]);
});

test.each(['1e400', '-1e400', '1.5', '1e300'])('a project whose id is %s is not listed as another', async (written) => {
  const told = await step({ mode: 'list-projects' }, () => ({ body: `{"projects":[{"id":${written}}]}` }));
  expect(harm(told, false)).toEqual([]);
});

test.each([
  ['half a pair', 'a\uD800'],
  ['a megabyte', 'x'.repeat(900_000)],
])('an operation whose id is %s cannot be asked for, and says where it stands', async (_, odd) => {
  const first = JSON.stringify({ operations: [{ id: odd, status: 'running' }] });
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': 'all' }, (_request, n) =>
    n === 0 ? { body: first } : { body: '{"operations":[]}' },
  );
  expect(harm(told, false)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toContain('`operations[0].id`');
});

test('an answer about another operation names both, as text', async () => {
  const odd = 'x\u001b[31m\n::error::y\u202E';
  const first = JSON.stringify({ operations: [{ id: odd, status: 'running' }] });
  let n = 0;
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': 'all' }, ({ url }) =>
    url.pathname.endsWith('/operations')
      ? { body: n++ === 0 ? first : '{"operations":[]}' }
      : { body: `{"operation":{"id":"${other}","status":"finished"}}` },
  );
  expect(harm(told, false)).toEqual([]);
});

test('fields that every object has are no fields of a record', async () => {
  const odd = printedObject([
    ['__proto__', `{"id":"${id}","status":"finished"}`],
    ['constructor', '{"prototype":{"status":"finished"}}'],
  ]);
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': id }, () => ({
    body: `{"operation":${odd}}`,
  }));
  expect(harm(told, false)).toEqual([]);
});

test.each([
  ['a part of an answer', 206, { id, status: 'finished' }],
  ['the end of another operation', 200, { id: other, status: 'finished' }],
  ['the end of an operation of another project', 200, { id, status: 'finished', project_id: 'other' }],
  ['an end in a list', 200, { id, status: ['finished'] }],
  ['an end that is a little more', 200, { id, status: 'finished\u0000' }],
])('%s is no proof', async (_, status, one) => {
  const told = await step({ mode: 'wait-operation', 'project-id': projectId, 'operation-id': id }, () => ({
    status,
    body: JSON.stringify({ operation: one }),
  }));
  expect(harm(told, false)).toEqual([]);
  expect(told.succeeded).toBe(false);
});
