import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FeatureFlags } from '@actions/expressions/features';
import { clearCache } from '@actions/languageservice/utils/workflow-cache';
import { validate } from '@actions/languageservice/validate';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';

const actionYml = readFileSync('action.yml', 'utf8');
const onNode24 = readFileSync('node24/action.yml', 'utf8');

async function problemsOf(text: string, name = 'action.yml'): Promise<string[]> {
  // It remembers what it has parsed by its name.
  clearCache();
  const problems = await validate(TextDocument.create(`file:///${name}`, 'yaml', 1, text), {
    featureFlags: new FeatureFlags({ allowBackgroundSteps: true }),
  });
  return problems.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

test("GitHub's schema accepts action.yml and node24/action.yml", async () => {
  expect(await problemsOf(actionYml)).toEqual([]);
  expect(await problemsOf(onNode24)).toEqual([]);
});

test('action-types.yml types each input and output', () => {
  const { inputs, outputs } = parse(readFileSync('action-types.yml', 'utf8'));
  const action = parse(actionYml);
  expect([Object.keys(inputs), Object.keys(outputs)]).toEqual([
    Object.keys(action.inputs),
    Object.keys(action.outputs),
  ]);
  expect(inputs).toMatchObject({
    mode: { type: 'enum', 'allowed-values': expect.arrayContaining(['wait-operation', 'sweep-keys']) },
    timeout: { type: 'string' },
    summary: { type: 'boolean' },
    limit: { type: 'integer' },
    filter: { type: 'list', separator: '\n', 'list-item': { type: 'string' } },
  });
  expect(inputs.mode['allowed-values']).toHaveLength(7);
  const statuses = ['finished', 'revoked', 'gone', 'ok', 'failed', 'timeout', 'empty', 'match', 'cancelled', 'error'];
  expect(outputs.status).toEqual({ type: 'enum', 'allowed-values': statuses });
  // A mistyped name in the generator would be left out silently.
  for (const name of ['fail-on', 'on-revoke-failure', 'max-batches', 'key-id', 'project-id', 'operation-id'])
    expect(inputs[name].type, name).not.toBe('string');
});

test('the action has a name and a short description, as the Marketplace requires', () => {
  const { name, description } = parse(actionYml);
  expect(name).toBe('ctl-action');
  expect(description.length).toBeLessThan(125);
});

test("GitHub's schema accepts all workflows and examples", async () => {
  const paths = ['.github/workflows', 'examples'].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  expect(paths.length).toBeGreaterThan(15);
  for (const path of paths) {
    const problems = await problemsOf(readFileSync(path, 'utf8'), path);
    // A workflow that is called is not read, so its outputs are unknown.
    const known = 'Context access might be invalid: count';
    expect
      .soft(
        problems.filter((problem) => !problem.endsWith(known)),
        path,
      )
      .toEqual([]);
  }
});

const example = 'examples/gate-while-building.yml';

test.for([
  ['a mistyped entry of action.yml', 'action.yml', '  main:', '  mian:'],
  ['a context that an input default may not use', 'action.yml', 'github.token', 'secrets.TOKEN'],
  ['a mistyped keyword of parallel steps', example, 'wait: gate', 'wait-for: gate'],
] as const)("GitHub's schema rejects %s", async ([, path, right, wrong]) => {
  expect(await problemsOf(readFileSync(path, 'utf8').replace(right, wrong), path)).not.toEqual([]);
});
