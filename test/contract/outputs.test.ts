import { rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { status as fault } from '../kit/fault.js';
import { type Inputs, type Mode, requiredInputs, uuid } from '../kit/inputs.js';
import { errorOf, resultFileOf, setStage, staged, warningsOf } from '../kit/stage.js';

staged('wait-operation sets all its outputs, and masks only the API key', async ({ stage }) => {
  const ids = [60_000, 0, 120_000].map((ageMs) => stage.operation({ ageMs, lengthMs: 0 }).id);
  const [, newer] = ids;
  const result = await stage.run({ 'operation-id': ids.join(',') });

  const shown = { operations: expect.any(String), 'result-file': expect.any(String), message: '3 operations finished' };
  const decided = { status: 'finished', count: '3', 'operation-id': newer, 'operation-ids': JSON.stringify(ids) };
  expect(result.outputs).toEqual({ ...decided, ...shown });
  const operations = ids.map((id) => expect.objectContaining({ id, status: 'finished' }));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toEqual(operations);
  const head = { mode: 'wait-operation', status: 'finished', count: 3, project_ids: [stage.projectId] };
  expect(JSON.parse(resultFileOf(result))).toEqual({ ...head, operation_id: newer, operation_ids: ids, operations });
  expect(result.masks).toEqual([stage.service.apiKey]);
  expect(result.state).toEqual({ key: 'nothing-to-revoke' });
});

staged.for<[mode: Mode, inputs: Inputs, message: RegExp]>([
  ['wait-operation', {}, /^1 operation finished$/],
  ['revoke-key', { 'ignore-not-found': 'true' }, /^1 not found$/],
])(
  'the output message of %s is the headline after a success, and the error after a failure',
  async (row, { stage }) => {
    const [mode, inputs, message] = row;
    const ids = { 'project-id': stage.projectId, 'operation-id': stage.operation({ lengthMs: 0 }).id };
    const own = Object.fromEntries(Object.entries(ids).filter(([name]) => name in requiredInputs[mode]));
    const given = { ...requiredInputs[mode], ...own, ...inputs };
    expect((await stage.runMode(mode, given)).outputs['message']).toMatch(message);
    stage.service.faults.add({ fault: fault(403, { body: '{"message":"no\\n::error::x ##[x]"}' }) });
    const failed = await stage.runMode(mode, { ...given, timeout: '30s' });
    expect(failed.outputs['message']).toBe(errorOf(failed).replace(/\s+/g, ' '));
    expect(failed.outputs['message']).toMatch(/403/);
  },
);

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

// Lists are printed in pieces of 1,000 records.
const lists: [mode: Mode, noun: string, count: number, body: (records: string) => string][] = [
  ['list-operations', 'operation', 1, (records) => `{"operations":${records}}`],
  ['list-projects', 'project', 1, (records) => `{"projects":${records}}`],
  ['list-keys', 'key', 1_001, (records) => records],
];

test.for(lists)(
  '%s leaves an output of records of more than 30,000 characters empty, with one warning',
  async (list, context) => {
    const [mode, noun, count, body] = list;
    let response = '';
    const stage = await setStage(context, { oneJob: true, respond: () => response });
    for (const start of ['ä', '##['])
      for (const isSet of [true, false]) {
        const record = (name: string, n: number) =>
          mode === 'list-keys' ? { id: n, name } : { id: uuid(n), status: 'finished', name };
        const print = (name: string) => JSON.stringify([name, ...Array(count - 1).fill('')].map(record));
        const escaped = (text: string) => text.replaceAll('##[', '#\\u0023[');
        const room = 30_000 - escaped(print(start)).length;
        const records = print(start + 'x'.repeat(isSet ? room : room + 1));
        response = body(records);
        const result = await stage.runMode(mode, requiredInputs[mode], { debug: true });
        expect(result.conclusion).toBe('success');
        expect(result.outputs[`${noun}s`]).toBe(isSet ? escaped(records) : '');
        expect(JSON.parse(result.outputs[`${noun}-ids`] ?? '')).toHaveLength(count);
        expect(JSON.parse(resultFileOf(result))[`${noun}s`]).toEqual(JSON.parse(records));
        const warning = new RegExp(`left empty because they are too large: ${noun}s\\. .*result-file`);
        expect(warningsOf(result)).toEqual(isSet ? [] : [expect.stringMatching(warning)]);
        if (!isSet) expect(result.summary).toMatch(warning);
      }
  },
);

test('list-projects leaves outputs of more than 200,000 characters empty, and names them in one warning', async (context) => {
  const projects = async (extra: number) => {
    const ids = Array.from({ length: 100 }, (_, n) => String(n).padStart(1_996, 'é'));
    const body = JSON.stringify({ projects: [...ids, 'x'.repeat(extra)].map((id) => ({ id })) });
    return (await setStage(context, { respond: () => body })).runMode('list-projects');
  };
  const most = 200_000 - (100 * 1_999 + 2 + 2);
  const full = await projects(most);
  expect(full.outputs['project-ids']).toHaveLength(200_000);
  expect(warningsOf(full)).toEqual([expect.stringMatching(/too large: batches, projects\. /)]);
  const more = await projects(most + 1);
  expect(more.outputs).toMatchObject({ status: 'ok', count: '101', projects: '', 'project-ids': '', batches: '' });
  expect(warningsOf(more)).toEqual([expect.stringMatching(/too large: project-ids, batches, projects\. /)]);
  expect(JSON.parse(resultFileOf(more)).project_ids).toHaveLength(101);
});

test('outputs and result-file escape “##[” in records without a change of the JSON value', async (context) => {
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
