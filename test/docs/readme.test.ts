import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const readme = readFileSync('README.md', 'utf8');

const troubles = readme.slice(readme.indexOf('| it says |'), readme.indexOf('## Security'));
const quoted = [...troubles.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) =>
  cell.replaceAll('`', '').split(', '),
);

test('what the README quotes of errors is what the action says', () => {
  const bundles = ['dist/main', 'dist/post'].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(folder, file), 'utf8')),
  );
  expect(quoted.length).toBeGreaterThan(20);
  // The name of an input is put in when it is said.
  const isSaid = (words: string) => bundles.some((bundle) => bundle.includes(words.replace(/^[a-z-]+: /, '')));
  expect(quoted.filter((words) => !isSaid(words))).toEqual([]);
});

test('all that the action advises about errors of the control API is explained', () => {
  const advices = [...readFileSync('src/action/advice.ts', 'utf8').matchAll(/'([A-Z][^']+)'/g)].map(
    ([, text = '']) => text,
  );
  expect(advices.length).toBeGreaterThan(5);
  expect(advices.filter((advice) => !quoted.some((words) => advice.includes(words)))).toEqual([]);
});

test('the files that the README points to are there', () => {
  const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => path);
  expect(targets.length).toBeGreaterThan(10);
  expect(targets.filter((path) => !existsSync(path))).toEqual([]);
  const shown = readdirSync('examples').filter((file) => !targets.includes(`examples/${file}`));
  expect(shown).toEqual([]);
});

test('the README is short', () => {
  expect(readme.split('\n').length).toBeLessThan(250);
});
