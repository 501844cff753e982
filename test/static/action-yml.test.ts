import { readFileSync } from 'node:fs';
import { clearCache } from '@actions/languageservice/utils/workflow-cache';
import { validateAction } from '@actions/languageservice/validate-action';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';

const actionYml = readFileSync('action.yml', 'utf8');

async function problemsOf(text: string): Promise<unknown[]> {
  // It remembers what it has parsed by its name.
  clearCache();
  const problems = await validateAction(TextDocument.create('file:///action.yml', 'yaml', 1, text));
  return problems.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

test("action.yml is sound by GitHub's own schema", async () => {
  expect(await problemsOf(actionYml)).toEqual([]);
});

test.for([
  ['an entry that is mistyped', '  main:', '  mian:'],
  ['a runtime that no runner has', 'using: node20', 'using: node2'],
  ['a context that a default may not use', 'github.token', 'secrets.TOKEN'],
])('the schema sees %s', async ([, right = '', wrong = '']) => {
  expect(await problemsOf(actionYml.replace(right, wrong))).not.toEqual([]);
});
