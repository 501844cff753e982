import { readFileSync } from 'node:fs';
import { clearCache } from '@actions/languageservice/utils/workflow-cache';
import { validateAction } from '@actions/languageservice/validate-action';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';

const actionYml = readFileSync('action.yml', 'utf8');
const onNode24 = readFileSync('node24/action.yml', 'utf8');

async function problemsOf(text: string): Promise<unknown[]> {
  // It remembers what it has parsed by its name.
  clearCache();
  const problems = await validateAction(TextDocument.create('file:///action.yml', 'yaml', 1, text));
  return problems.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

test("action.yml and node24/action.yml are sound by GitHub's own schema", async () => {
  expect(await problemsOf(actionYml)).toEqual([]);
  expect(await problemsOf(onNode24)).toEqual([]);
});

test('the action has the name and the short description that the Marketplace asks for', () => {
  const { name, description } = parse(actionYml);
  expect(name).toBe('ctl-action');
  expect(description.length).toBeLessThan(125);
});

test('node24/action.yml runs the same bundle with the same inputs and outputs, on Node 24', () => {
  const { description: short, ...root } = parse(actionYml);
  const { description, ...variant } = parse(onNode24);
  expect(description).toContain(short);
  const runs = { using: 'node24', main: '../dist/main/index.js', post: '../dist/post/index.js' };
  expect(variant).toEqual({ ...root, runs });
});

test.for([
  ['an entry that is mistyped', '  main:', '  mian:'],
  ['a runtime that no runner has', 'using: node20', 'using: node2'],
  ['a context that a default may not use', 'github.token', 'secrets.TOKEN'],
])('the schema sees %s', async ([, right = '', wrong = '']) => {
  expect(await problemsOf(actionYml.replace(right, wrong))).not.toEqual([]);
});
