import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { resultFileOf, setStage } from '../kit/stage.js';
import { completed } from '../kit/sweep.js';

const [, section = ''] = /^### The result file\n(.*?)^## /ms.exec(readFileSync('docs/reference.md', 'utf8')) ?? [];
const rows = [...section.matchAll(/^\| ([a-z]+-[a-z]+) \| (.*) \|$/gm)].map(([, mode = '', fields = '']) => ({
  mode,
  fields: [...fields.matchAll(/`([a-z_]+)`/g)].map(([, field]) => field),
}));

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

test('the steps set the outputs of action.yml, and result files have them in the fields of docs/reference.md', async (context) => {
  const stage = await setStage(context);
  stage.runs.set('11', completed);
  stage.addKey('11');
  const inputs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'wait-operation': { 'project-id': stage.projectId, 'operation-id': 'all' },
    'list-operations': { 'project-id': stage.projectId },
    'revoke-key': { 'key-id': stage.addNamed('old') },
  };
  expect(rows).toHaveLength(6);
  const outputs = Object.keys((await stage.runMode('create-key')).outputs);
  for (const { mode, fields } of rows) {
    const result = await stage.runMode(mode, inputs[mode]);
    outputs.push(...Object.keys(result.outputs));
    const file = JSON.parse(resultFileOf(result));
    expect(Object.keys(file), mode).toEqual(fields);
    for (const field of Object.keys(file.decisions?.[0] ?? {})) expect(section).toContain(`\`${field}\``);
    for (const [output, value] of Object.entries(result.outputs))
      if (!['result-file', 'message'].includes(output)) expect(text(file[output.replaceAll('-', '_')])).toBe(value);
  }
  expect([...new Set(outputs)].sort()).toEqual(Object.keys(parse(readFileSync('action.yml', 'utf8')).outputs).sort());
});

test('the jq commands of docs/reference.md read fields of the result file', () => {
  const fields = new Set(rows.flatMap((row) => row.fields));
  const read = [...section.matchAll(/^jq .*$/gm)].flatMap(([command]) => [...command.matchAll(/[' ]\.([a-z_]+)/g)]);
  const ofRecords = ['status', 'id', 'action', 'last_used_at', 'name'];
  expect(read.length).toBeGreaterThan(3);
  expect(read.filter(([, name = '']) => !fields.has(name) && !ofRecords.includes(name))).toEqual([]);
});
