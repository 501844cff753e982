import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const [, model = ''] = /## Who can do what\n(.*?)\n## /s.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
const attacks = model.split('\n').filter((line) => /^\| (?!they could |---)/.test(line));

test('SECURITY.md names a test, or an audit of zizmor, for each attack', () => {
  expect(attacks.length).toBeGreaterThan(30);
  expect(attacks.filter((row) => testsOf(row).length === 0 && !/\(zizmor: `[\w-]+`/.test(row))).toEqual([]);
});

test.for(attacks.flatMap(testsOf))('SECURITY.md names a test that exists: “%s” (%s)', ([title, path]) => {
  const words = title.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // In the place of … the test has a value of its table.
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`\\(\\s*(['"\`])${words.join('[^\\n]+')}\\1,`));
});

/** The last cell of a row: “title”, “title” (`file`), … */
function testsOf(row: string): [title: string, path: string][] {
  const cell = row.split(' | ').at(-1) ?? '';
  return [...cell.matchAll(/“(.*?)” \(`(test\/[\w/.-]+)`\)/g)].flatMap(([, titles = '', path = '']) =>
    titles.split('”, “').map((title): [string, string] => [title, path]),
  );
}
