import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { resultFileOf, setStage } from '../kit/stage.js';
import { completed } from '../kit/sweep.js';
import { ended } from '../kit/wait.js';

const reference = readFileSync('docs/reference.md', 'utf8');
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
/** Outputs that are no part of the result. */
const ofTheStep = ['message', 'result-file', 'response-file'];

test('the modes set all outputs of action.yml, and result files have a field for each output of their step', async (context) => {
  const stage = await setStage(context, { newOperations: ended });
  stage.runs.set('11', completed);
  stage.addKey('11');
  const { projectId } = stage;
  const outputs = Object.keys((await stage.runMode('create-key')).outputs);
  for (const [mode, inputs, others] of [
    ['wait-operation', { 'project-id': projectId, 'operation-id': 'all' }, ['project_ids']],
    ['send-request', { request: `POST /projects/${projectId}/branches` }, ['project_ids']],
    ['list-operations', { 'project-id': projectId }, []],
    ['list-projects', {}, []],
    ['list-keys', {}, []],
    ['revoke-key', { 'key-id': stage.addNamed('old') }, ['not_found']],
    ['sweep-keys', {}, ['dry_run', 'decisions']],
  ] as const) {
    const result = await stage.runMode(mode, inputs);
    outputs.push(...Object.keys(result.outputs));
    const file = JSON.parse(resultFileOf(result));
    const shared = Object.entries(result.outputs).filter(([output]) => !ofTheStep.includes(output));
    const fields = shared.map(([output, value]) => [output.replaceAll('-', '_'), value] as const);
    expect(Object.keys(file).sort(), mode).toEqual(['mode', ...others, ...fields.map(([field]) => field)].sort());
    for (const [field, value] of fields) expect(text(file[field])).toBe(value);
    for (const field of [...others, ...Object.keys(file.decisions?.[0] ?? {})])
      expect(reference).toContain(`\`${field}\``);
  }
  expect([...new Set(outputs)].sort()).toEqual(Object.keys(parse(readFileSync('action.yml', 'utf8')).outputs).sort());
});
