import { readFileSync } from 'node:fs';
import { clearCache } from '@actions/languageservice/utils/workflow-cache';
import { validate } from '@actions/languageservice/validate';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';

async function problemsOf(path: string, text: string): Promise<string[]> {
  clearCache();
  const problems = await validate(TextDocument.create(`file:///${path}`, 'yaml', 1, text));
  return problems.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

// actionlint checks the workflows and examples.
test.for([
  ['action.yml', 'a context that an input default may not use', 'github.token', 'secrets.TOKEN'],
  ['node24/action.yml', 'a mistyped entry', '  main:', '  mian:'],
] as const)("GitHub's schema accepts %s, but not with %s", async ([path, , right, wrong]) => {
  const text = readFileSync(path, 'utf8');
  expect(await problemsOf(path, text)).toEqual([]);
  expect(await problemsOf(path, text.replace(right, wrong))).not.toEqual([]);
});
