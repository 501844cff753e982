import fc from 'fast-check';
import { expect, test as withoutFixtures } from 'vitest';
import { attacks, json, record } from '../kit/hostile-values.js';
import { type Inputs, operationId as id, type Mode, modes, requiredInputs } from '../kit/inputs.js';
import { errorOf, type StageOptions, setStage } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import { all } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

/** Here, the number of a request counts from 1 in each step. */
type Respond = NonNullable<StageOptions['respond']>;
type Response = ReturnType<Respond>;
type Run = (mode: Mode, response: Response | Respond, inputs?: Inputs) => Promise<StepResult>;

const otherId = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';
const inputsOf: Readonly<Record<Mode, Inputs>> = { ...requiredInputs, 'revoke-key': { 'key-id': '7' } };

const test = withoutFixtures.extend<{ run: Run }>({
  /** Runs steps with step debug on. In none of them text acts as more than text, or an exception is shown. */
  run: async ({ onTestFinished }, use) => {
    let respond: Respond = () => '';
    let sent = 0;
    const counted: Respond = (path, _, request) => respond(path, ++sent, request);
    const { runMode } = await setStage({ onTestFinished }, { oneJob: true, respond: counted });
    await use(async (mode, response, inputs = {}) => {
      respond = typeof response === 'function' ? response : () => response;
      sent = 0;
      const result = await runMode(mode, { ...inputsOf[mode], timeout: '30s', ...inputs }, { debug: true });
      expect(defectsOf(result), mode).toEqual([]);
      return result;
    });
  },
});

const operationBody = (fields: object) => JSON.stringify({ operation: fields });
/** What a service responds that has the text in every field. */
function everywhere(written: string): Respond {
  const times = { created_at: written, updated_at: written, last_used_at: written };
  const fields = { name: written, region_id: written, pg_version: written, [written]: written, ...times };
  const operation = { ...times, action: written, branch_id: written, endpoint_id: written, failures_count: written };
  const usableId = written.slice(0, 500).replace(/[\p{Cs}\p{Cc}]/gu, '');
  const drawn = { ...operation, created_at: '2023-12-31T00:00:00Z', updated_at: '2023-12-31T00:00:09Z' };
  const operations = [
    { ...drawn, id, status: 'failed' },
    { ...drawn, id: otherId, status: written || 'running' },
    { ...operation, id: /^\s*::|##\[|^$/.test(usableId) ? 'c' : usableId, status: 'skipped' },
  ];
  return (path, _, { method }) => {
    if (method === 'DELETE') return JSON.stringify({ id: 7, revoked: true, ...fields });
    if (path === 'projects' && method === 'POST')
      return JSON.stringify({ ...fields, operations: operations.map((one) => ({ ...one, project_id: 'p' })) });
    if (method === 'POST') return JSON.stringify({ id: 7, key: 'minted-0123456789abcdef', ...fields });
    if (path.startsWith('api_keys')) return JSON.stringify([{ id: 7, ...fields }]);
    if (path.includes(`operations/`)) return operationBody(operations[path.includes(id) ? 0 : 1] ?? {});
    if (path.includes('operations')) return JSON.stringify({ operations });
    return JSON.stringify({ projects: ['p', 'b'].map((end) => ({ ...fields, id: written + end })) });
  };
}

const named = Object.entries(attacks);
test.for(named)('every mode shows %s in a record field as plain text', async ([, attack], { run }) => {
  for (const mode of modes) await run(mode, everywhere(attack));
  await run('wait-operation', everywhere(attack), { ...all, since: '1h' });
  const pair = { 'operation-id': `${id} ${otherId}`, 'fail-fast': 'false' };
  await run('wait-operation', everywhere(attack), pair);
});

const inHeader = (written: string) => written.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
test.for(named)('a step shows %s in an error response as plain text', async ([, attack], { run }) => {
  for (const mode of ['wait-operation', 'list-keys', 'create-key', 'revoke-key'] as const) {
    const body = JSON.stringify({ message: attack, code: attack });
    const result = await run(mode, { status: 422, body, headers: { 'x-request-id': inHeader(attack) } });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toContain('status 422');
  }
});

const every = Object.values(attacks).join('\n');
test.for<[what: string, response: Response]>([
  ['an error response that is not JSON', { status: 400, body: every }],
  ['a 200 response that is not JSON', '\uFEFF\u0000\u001b[2J::error::HACKED\r\n##[error]HACKED\u2028\u202E'],
  ['the id of an operation that it did not ask for', operationBody({ id: every, status: 'finished' })],
])('wait-operation shows hostile text in %s as plain text', async ([, response], { run }) => {
  expect((await run('wait-operation', response, { timeout: '0' })).conclusion).toBe('failure');
});

test('lists reject an id that could act as a command or does not fit into a URL', async ({ run }) => {
  const unfit = ['a\u0000b', 'a\u0085', 'a\uD800b', '', '  ', '.', '..', 'x'.repeat(4_097)];
  const commands = [
    '::error::HACKED',
    ' ::error::HACKED',
    'a ##[error]x',
    '##[group]',
    'a\u2028##[x]',
    'a\n::error::HACKED',
  ];
  for (const odd of [...unfit, ...commands]) {
    const body = JSON.stringify({ operations: [{ id: odd, status: 'running' }] });
    const results = [await run('list-operations', body), await run('wait-operation', body, all)];
    for (const result of results) expect(errorOf(result)).toContain('`operations[0].id` should be a usable id');
  }
  for (const odd of unfit) {
    const result = await run('list-projects', JSON.stringify({ projects: [{ id: odd }] }));
    expect(errorOf(result)).toContain('`projects[0].id` should be a usable id');
  }
});

const operation = record({ id: `"${id}"`, project_id: '"p"', status: '"finished"', failures_count: '0' });
const anyResponse = fc.record({
  status: fc.oneof({ weight: 8, arbitrary: fc.constant(200) }, fc.integer({ min: 100, max: 999 })),
  body: fc.oneof(
    { weight: 6, arbitrary: operation.map((one) => `{"operation":${one}}`) },
    operation.map((one) => `{"operation":${one}`),
    fc.oneof(operation, json),
  ),
});

function provesEnd({ status, body }: { readonly status: number; readonly body: string }): boolean {
  if (status < 200 || status > 299 || status === 206) return false;
  try {
    const { id: shown, status: end, project_id: of } = JSON.parse(body).operation;
    return shown === id && ['finished', 'skipped'].includes(end) && [undefined, null, 'p'].includes(of);
  } catch {
    return false;
  }
}

test('wait-operation succeeds only if a response shows that the operation has ended', async ({ run }) => {
  const succeeds = async (given: readonly Response[]) => {
    const respond: Respond = (_, n) => given[Math.min(n, given.length) - 1] ?? '';
    return (await run('wait-operation', respond)).conclusion === 'success';
  };
  expect(await succeeds([operationBody({ id, status: 'finished' })])).toBe(true);
  const property = fc.asyncProperty(fc.array(anyResponse, { minLength: 1, maxLength: 3 }), async (responses) => {
    if (await succeeds(responses)) expect(responses.some(provesEnd)).toBe(true);
  });
  await fc.assert(property, { numRuns: 25 });
});

test.for<[what: string, bad: string, usable: string]>([
  ['has 7 characters', '1234567', '12345678'],
  ['begins with “::”', '::add-mask::success', ':add-mask::success'],
  ['contains “##[”', 'x##[error]y', 'x#[error]##y'],
])('create-key neither accepts nor masks a new key that %s', async ([, bad, usable], { run }) => {
  const create = (secret: string) =>
    run('create-key', (_path, _n, { method }) => (method === 'POST' ? `{"id":7,"key":"${secret}"}` : '[]'));
  const result = await create(bad);
  expect(result.outputs).toMatchObject({ status: 'error', key: '' });
  expect(result.masks).not.toContain(bad);
  expect(result.output + result.summary + JSON.stringify(result.state)).not.toContain(bad);
  expect((await create(usable)).outputs['key']).toBe(usable);
});
