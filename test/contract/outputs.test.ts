import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, type TestContext, test } from 'vitest';
import { type Inputs, type Mode, requiredInputs, uuid } from '../kit/inputs.js';
import { resultFileOf, setStage, staged, warningsOf } from '../kit/stage.js';
import type { StepResult } from '../runner/step.js';

/** The size of the largest array of records on each platform; one more is too much. */
const platforms = [
  { platform: 'Linux', sizeOf: (text: string) => Buffer.byteLength(text), max: 100 * 1024 - 1, limit: '100 KiB' },
  { platform: 'Windows', sizeOf: (text: string) => text.length, max: 31_999, limit: '32,000 UTF-16 units' },
] as const;
const maxUnits = 400 * 1024 - 1;

async function run(context: TestContext, mode: string, body: string, inputs?: Inputs) {
  const stage = await setStage(context, { respond: () => body });
  return stage.runMode(mode, inputs, { debug: true });
}

staged('a successful wait sets all outputs, and masks only the parent key', async ({ stage }) => {
  const ids = [60_000, 0, 120_000].map((ageMs) => stage.operation({ ageMs, lengthMs: 0 }).id);
  const [, newer] = ids;
  const result = await stage.run({ 'operation-id': ids.join(',') });

  const shown = { operations: expect.any(String), 'result-file': expect.any(String), 'duration-ms': '0' };
  const decided = { status: 'finished', count: '3', 'operation-id': newer, 'operation-ids': JSON.stringify(ids) };
  expect(result.outputs).toEqual({ ...decided, ...shown });
  const operations = ids.map((id) => expect.objectContaining({ id, status: 'finished' }));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toEqual(operations);
  const head = { mode: 'wait-operation', status: 'finished', count: 3, project_ids: [stage.projectId] };
  expect(JSON.parse(resultFileOf(result))).toEqual({ ...head, operation_id: newer, operation_ids: ids, operations });
  expect([result.masks, result.env]).toEqual([[stage.service.apiKey], {}]);
  expect(result.state).toEqual({ key: 'nothing-to-revoke' });
});

test('result-file is written to RUNNER_TEMP or the temporary folder, readable only by its owner', async (context) => {
  const stage = await setStage(context);
  for (const folder of [stage.folder, '', undefined]) {
    const { outputs } = await stage.runMode('list-keys', {}, { env: { RUNNER_TEMP: folder } });
    const path = outputs['result-file'] ?? '';
    context.onTestFinished(() => rmSync(path, { force: true }));
    expect(dirname(path)).toBe(folder || tmpdir());
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

test('outputs and result-file keep unknown fields', async (context) => {
  const record = `{"id":"${uuid(1)}","status":"finished","of_tomorrow":{"deep":[9007199254740991,null]}}`;
  const inputs = { 'operation-id': uuid(1), 'project-id': 'p' };
  const result = await run(context, 'wait-operation', `{"operation":${record},"more":1}`, inputs);
  expect(result.outputs['operations']).toBe(`[${record}]`);
  expect(resultFileOf(result)).toContain(record);
});

// Lists are printed in pieces of 1,000 records.
const lists: [mode: Mode, noun: string, count: number, body: (records: string) => string, inputs?: Inputs][] = [
  ['wait-operation', 'operation', 1, (records) => `{"operation":${records.slice(1, -1)}}`, { 'operation-id': uuid(0) }],
  ['list-operations', 'operation', 1, (records) => `{"operations":${records}}`],
  ['list-projects', 'project', 1, (records) => `{"projects":${records}}`],
  ['list-keys', 'key', 1_001, (records) => records, { limit: '0' }],
];

describe.for(platforms)('on a runner with $platform,', ({ platform, sizeOf, max, limit }) => {
  test.for(lists)(`\`%s\` outputs records of less than ${limit}, and otherwise warns`, async (list, context) => {
    const [mode, noun, count, body, inputs] = list;
    const given = { ...requiredInputs[mode], ...inputs };
    let response = '';
    const stage = await setStage(context, { oneJob: true, respond: () => response });
    for (const start of ['x', 'ä', '##['])
      for (const isSet of [true, false]) {
        const record = (name: string, n: number) =>
          mode === 'list-keys' ? { id: n, name } : { id: uuid(n), status: 'finished', name };
        const print = (name: string) => JSON.stringify([name, ...Array(count - 1).fill('')].map(record));
        const escaped = (text: string) => text.replaceAll('##[', '#\\u0023[');
        const room = max - sizeOf(escaped(print(start)));
        const records = print(start + 'x'.repeat(isSet ? room : room + 1));
        response = body(records);
        const result = await stage.runMode(mode, given, { debug: true, env: { RUNNER_OS: platform } });
        expect(result.conclusion).toBe('success');
        expect(result.outputs[`${noun}s`]).toBe(isSet ? escaped(records) : '');
        expect(result.outputs['count']).toBe(String(count));
        expect(JSON.parse(result.outputs[`${noun}-ids`] ?? '')).toHaveLength(count);
        expect(JSON.parse(resultFileOf(result))[`${noun}s`]).toEqual(JSON.parse(records));
        const warning = new RegExp(`left empty because they are too large: ${noun}s\\..* ${limit}[ ,].*result-file`);
        expect(warningsOf(result)).toEqual(isSet ? [] : [expect.stringMatching(warning)]);
        if (!isSet) expect(result.summary.replace(/<[^>]*>/g, '')).toMatch(warning);
      }
  });
});

test('all outputs of a step together stay below 400 Ki UTF-16 units', async (context) => {
  const ids = Array.from({ length: 101 }, (_, n) => String(n).padStart(4_000, 'é'));
  const list = (lastId: string) => {
    const operations = [...ids, lastId].map((id) => ({ id, status: 'finished' }));
    return run(context, 'list-operations', JSON.stringify({ operations }), { 'project-id': 'p', limit: '0' });
  };
  const units = ({ outputs }: StepResult) => Object.values(outputs).reduce((sum, value) => sum + value.length, 0);
  const room = maxUnits - units(await list('x'));
  const full = await list('x'.repeat(room + 1));
  expect(units(full)).toBe(maxUnits);
  expect(JSON.parse(full.outputs['operation-ids'] ?? '')).toHaveLength(102);
  expect(warningsOf(full)).toEqual([expect.stringMatching(/too large: operations\./)]);
  const tooMuch = await list('x'.repeat(room + 2));
  expect(tooMuch.outputs['operation-ids']).toBe('');
  expect(tooMuch.outputs['operation-id']).toBe(ids[0]);
  expect(warningsOf(tooMuch)).toEqual([expect.stringMatching(/too large: .*operation-ids/)]);
});

for (const count of [0, 1, 999, 1_000, 1_001, 2_001])
  test(`result-file holds all of ${count} projects, with the parent key redacted`, async (context) => {
    const numbers = Array.from({ length: count }, (_, n) => n);
    const print = (secret: string) => numbers.map((n) => `{"id":"p-${n}","name":"]},{[${secret}","size":${n}}`);
    const key = 'parent-key-0123456789abcdef';
    const result = await run(context, 'list-projects', `{"projects":[${print(key)}]}`, { 'api-key': key });
    const ids = numbers.map((n) => `"p-${n}"`);
    const head = `{"mode":"list-projects","status":"ok","count":${count},"project_ids":[${ids}]`;
    const { batches } = JSON.parse(resultFileOf(result));
    expect(batches.flat()).toEqual(numbers.map((n) => `p-${n}`));
    const tail = `"batches":${JSON.stringify(batches)},"projects":[${print('***')}]}`;
    expect(resultFileOf(result)).toBe(`${head},${tail}\n`);
  });

test('outputs and result-file escape ##[ in records, and their JSON has the same value', async (context) => {
  let body = '';
  const stage = await setStage(context, { oneJob: true, respond: () => body });
  const parts = ['##[', '#', '[', '##[error]', '\\', '"', '\\u0023', '\n', '🙂', 'x'];
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join(''));
  const fields = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })), { noNullPrototype: true });
  const examples: [Record<string, string | string[]>[]][] = [[[{ '###[error]': ['\\##[debug]##[x]'] }]]];
  const property = fc.asyncProperty(fc.array(fields, { maxLength: 4 }), async (all) => {
    const projects = all.map((more, n) => ({ ...more, id: `${n} ##[group]` }));
    body = JSON.stringify({ projects });
    const result = await stage.runMode('list-projects', {}, { debug: true });
    const file = resultFileOf(result);
    for (const printed of [...Object.values(result.outputs), file]) expect(printed).not.toContain('##[');
    expect(JSON.parse(result.outputs['projects'] ?? '')).toEqual(projects);
    expect(JSON.parse(result.outputs['batches'] ?? '')).toEqual(projects.map(({ id }) => [id]));
    expect(JSON.parse(file)).toMatchObject({ project_ids: projects.map(({ id }) => id), projects });
  });
  await fc.assert(property, { numRuns: 40, examples });
});

const oddKeys = ['se##[cret-key', '##[secret-key', 'secret-key##[', 'secret-key##', '#[secret-key', '[secret-key'];
test.for(oddKeys)('the step redacts the whole parent key “%s”, even inside “##…[”', async (key, context) => {
  const result = await run(context, 'list-keys', JSON.stringify([{ id: 7, name: `##${key}[` }]), { 'api-key': key });
  expect(result.outputs['keys']).toBe('[{"id":7,"name":"##***["}]');
  expect(resultFileOf(result)).toContain('[{"id":7,"name":"##***["}]');
});
