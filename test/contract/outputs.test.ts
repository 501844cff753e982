import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, type TestContext, test } from 'vitest';
import { status } from '../kit/fault.js';
import { setStage, warningsOf } from '../kit/stage.js';
import { forever, waitFor } from '../kit/wait.js';
import type { StepOptions, StepResult } from '../runner/step.js';

type Json = Readonly<Record<string, unknown>>;

/** Bytes of an array of records; one more is too much. */
const maxRecordBytes = 100 * 1024 - 1;
/** UTF-16 units of all outputs. */
const maxUnits = 400 * 1024 - 1;

function uuid(n: number): string {
  return `a07f8772-1877-4da9-a939-${String(n).padStart(12, '0')}`;
}

function fileOf(result: StepResult): string {
  return result.readFile(result.outputs['result-file'] ?? '');
}

async function run(
  context: TestContext,
  mode: string,
  body: string,
  inputs: StepOptions['inputs'] = {},
): Promise<StepResult> {
  const stage = await setStage(context, { respond: () => body });
  return stage.runMode(mode, inputs, { debug: true });
}

describe('outputs of a wait', () => {
  test('a success sets all outputs and result-file, masks only the parent key, and saves that nothing is to be revoked', async (context) => {
    const stage = await setStage(context);
    const [older, newer, oldest] = [60_000, 0, 120_000].map((ageMs) => stage.operation({ ageMs, lengthMs: 0 }).id);
    const ids = [older, newer, oldest];
    const result = await stage.run({ 'operation-id': ids.join(',') });

    const shown = { operations: expect.any(String), 'result-file': expect.any(String), 'duration-ms': '0' };
    const decided = { status: 'finished', count: '3', 'operation-id': newer, 'operation-ids': JSON.stringify(ids) };
    expect(result.outputs).toEqual({ ...decided, ...shown });
    const operations = ids.map((id) => expect.objectContaining({ id, status: 'finished' }));
    expect(JSON.parse(result.outputs['operations'] ?? '')).toEqual(operations);
    const head = { mode: 'wait-operation', status: 'finished', project_ids: [stage.projectId] };
    expect(JSON.parse(fileOf(result))).toEqual({ ...head, operation_ids: ids, operations });
    expect(result.masks).toEqual([stage.service.apiKey]);
    expect(result.state).toEqual({ key: 'nothing-to-revoke' });
    expect(result.env).toEqual({});
  });

  test('result-file lies in RUNNER_TEMP, and only its owner may read it', async (context) => {
    const result = await run(context, 'list-keys', '[]');
    const path = result.outputs['result-file'] ?? '';
    expect(dirname(path)).toBe(result.job.temp);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a failure sets them too', async (context) => {
    const { result, ids } = await waitFor(context, [forever], { timeout: '700ms' });
    expect(result.conclusion).toBe('failure');
    const outputs = { status: 'timeout', count: '1', 'operation-id': ids[0], 'operation-ids': JSON.stringify(ids) };
    expect(result.outputs).toMatchObject({ ...outputs, 'duration-ms': '700' });
    expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ id: ids[0] }]);
    expect(JSON.parse(fileOf(result))).toMatchObject({ status: 'timeout' });
  });

  test('an operation that no response showed has an id, but no record, and does not count', async (context) => {
    const stage = await setStage(context, { faults: [{ fault: status(403) }] });
    const result = await stage.run({ 'operation-id': uuid(1) });
    const outputs = { 'operation-id': uuid(1), 'operation-ids': JSON.stringify([uuid(1)]), operations: '[]' };
    expect(result.outputs).toMatchObject({ status: 'error', count: '0', ...outputs });
  });

  test('integers of any size keep their digits, and unknown fields are passed through', async (context) => {
    const fields = '"project_id":9007199254740993,"failures_count":90071992547409931234,"of_tomorrow":{"deep":[1e2]}';
    const record = `{"id":"${uuid(1)}","status":"finished",${fields.replace('1e2', '9007199254740995')}}`;
    const inputs = { 'operation-id': uuid(1), 'project-id': '9007199254740993' };
    const result = await run(context, 'wait-operation', `{"operation":${record},"more":1}`, inputs);
    expect(result.outputs['operations']).toBe(`[${record}]`);
    expect(fileOf(result)).toContain(record);
    expect(result.summary).toContain('90071992547409931234');
    const other = { ...inputs, 'project-id': '9007199254740992' };
    expect((await run(context, 'wait-operation', `{"operation":${record}}`, other)).outputs['status']).toBe('error');
  });
});

interface Mode {
  readonly mode: string;
  readonly noun: string;
  readonly inputs?: StepOptions['inputs'];
  record(n: number, name: string): Json;
  body(records: string): string;
}

const modes: readonly Mode[] = [
  {
    mode: 'wait-operation',
    noun: 'operation',
    inputs: { 'project-id': 'p', 'operation-id': uuid(0) },
    record: (n, name) => ({ id: uuid(n), status: 'finished', name }),
    body: (records) => `{"operation":${records.slice(1, -1)}}`,
  },
  {
    mode: 'list-operations',
    noun: 'operation',
    inputs: { 'project-id': 'p', limit: '0' },
    record: (n, name) => ({ id: String(n), status: 'finished', name }),
    body: (records) => `{"operations":${records}}`,
  },
  {
    mode: 'list-projects',
    noun: 'project',
    record: (n, name) => ({ id: String(n), name }),
    body: (records) => `{"projects":${records}}`,
  },
  { mode: 'list-keys', noun: 'key', record: (n, name) => ({ id: n, name }), body: (records) => records },
];

describe.each(modes)('the records of $mode', ({ mode, noun, inputs, record, body }) => {
  // Lists are printed in pieces of 1,000 records.
  test.for(mode === 'wait-operation' ? [1] : [1, 1_000, 1_001, 1_500])(
    '%i of them are set up to one byte below 100 KiB, else left empty with one warning',
    async (count, context) => {
      for (const start of ['x', 'ä', '##[']) {
        const print = (filler: string) =>
          JSON.stringify(Array.from({ length: count }, (_, n) => record(n, n === 0 ? start + filler : '')));
        const escaped = (text: string) => text.replaceAll('##[', '#\\u0023[');
        for (const bytes of [maxRecordBytes, maxRecordBytes + 1]) {
          const records = print('x'.repeat(bytes - Buffer.byteLength(escaped(print('')))));
          const result = await run(context, mode, body(records), inputs);
          const isSet = bytes === maxRecordBytes;
          expect(result.conclusion).toBe('success');
          expect(result.outputs[`${noun}s`]).toBe(isSet ? escaped(records) : '');
          expect(result.outputs['count']).toBe(String(count));
          expect(JSON.parse(result.outputs[`${noun}-ids`] ?? '')).toHaveLength(count);
          expect(JSON.parse(fileOf(result))[`${noun}s`]).toEqual(JSON.parse(records));
          const warning = new RegExp(`left empty because they are too large: ${noun}s\\..*result-file`);
          expect(warningsOf(result)).toEqual(isSet ? [] : [expect.stringMatching(warning)]);
          if (!isSet) expect(result.summary).toMatch(warning);
        }
      }
    },
  );
});

test('all outputs together stay below 400 Ki units, those of every step included', async (context) => {
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

describe('result-file', () => {
  test.for([0, 1, 999, 1_000, 1_001, 2_000, 2_001])(
    '%i projects are written with all digits, and without the parent key in any of them',
    async (count, context) => {
      const numbers = Array.from({ length: count }, (_, n) => n);
      const print = (secret: string) =>
        numbers.map((n) => `{"id":"p-${n}","name":"]},{[${secret}","size":${9007199254740993n + BigInt(n)}}`);
      const key = 'parent-key-0123456789abcdef';
      const result = await run(context, 'list-projects', `{"projects":[${print(key)}]}`, { 'api-key': key });
      const ids = numbers.map((n) => `"p-${n}"`);
      const head = `{"mode":"list-projects","status":"ok","count":${count},"project_ids":[${ids}]`;
      expect(fileOf(result)).toBe(`${head},"projects":[${print('***')}]}\n`);
    },
  );
});

describe('##[, which a runner takes as a command', () => {
  test('##[ of a record is escaped in outputs and result-file, and the JSON has the same value', async (context) => {
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
      const file = fileOf(result);
      for (const printed of [...Object.values(result.outputs), file]) expect(printed).not.toContain('##[');
      expect(JSON.parse(result.outputs['projects'] ?? '')).toEqual(projects);
      expect(JSON.parse(result.outputs['batches'] ?? '')).toEqual(projects.map(({ id }) => [id]));
      expect(JSON.parse(file)).toMatchObject({ project_ids: projects.map(({ id }) => id), projects });
    });
    await fc.assert(property, { numRuns: 60, examples });
  });

  test.for(['se##[cret-key', '##[secret-key', 'secret-key##[', 'secret-key##', '#[secret-key', '[secret-key'])(
    'a parent key that shares characters with it is redacted as a whole: %s',
    async (key, context) => {
      const name = `##${key}[`;
      const result = await run(context, 'list-keys', JSON.stringify([{ id: 7, name }]), { 'api-key': key });
      expect(result.outputs['keys']).toBe('[{"id":7,"name":"##***["}]');
      expect(fileOf(result)).toContain('[{"id":7,"name":"##***["}]');
    },
  );
});
