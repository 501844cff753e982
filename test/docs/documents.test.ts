import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { modes } from '../../src/modes/index.js';

const textOf = (path: string) => readFileSync(path, 'utf8');

const documents = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'MAINTAINING.md'];
documents.push(...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])));
const link = /(?:\]\(|(?:src|srcset)=")(?!https?:)([^)"#]*)(?:#([^)"]*))?[)"]/g;
const links = documents.flatMap((from) =>
  [...textOf(from).matchAll(link)].map(([, file, anchor]) => {
    return { from, to: file ? join(dirname(from), file) : from, anchor };
  }),
);

/** As GitHub makes them of headings. */
const anchorsOf = (path: string) =>
  [
    ...textOf(path)
      .toLowerCase()
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) => heading.replaceAll(/[^\w -]/g, '').replaceAll(' ', '-'));

test('each message that docs/troubleshooting.md explains is a text of the bundles', () => {
  const bullets = textOf('docs/troubleshooting.md').matchAll(/^- \*\*`(.+?)`\*\*/gm);
  const quoted = [...bullets].flatMap(([, words = '']) => words.split('`, `'));
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const bundles = files.map((file) => textOf(join('dist', file)));
  expect(quoted.length).toBeGreaterThan(20);
  // The name of an input is put in when it is said.
  const isSaid = (words: string) => bundles.some((bundle) => bundle.includes(words.replace(/^[a-z-]+: /, '')));
  expect(quoted.filter((words) => !isSaid(words))).toEqual([]);
});

test('each relative link of a document leads to an existing file and heading', () => {
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ to }) => !existsSync(to))).toEqual([]);
  expect(links.filter(({ to, anchor }) => anchor !== undefined && !anchorsOf(to).includes(anchor))).toEqual([]);
});

const examples = readdirSync('examples').map((file) => textOf(join('examples', file)));

test('the workflows in examples use every mode', () => {
  const shown = examples.flatMap((text) => [...text.matchAll(/^ +mode: ([a-z-]+)$/gm)].map(([, mode]) => mode));
  expect([...new Set(shown)].sort()).toEqual(Object.keys(modes).sort());
});

// The examples are run in real runners (npm run test:official, npm run e2e); so what the README shows has been run there, too.
test('each YAML block of the README is an exact part of a workflow in examples', () => {
  const readme = textOf('README.md');
  const blocks = [...readme.matchAll(/^( *)```yaml\n(.*?)\n\1```$/gms)].map(([, margin = '', block = '']) =>
    block.replaceAll(new RegExp(`^${margin}`, 'gm'), ''),
  );
  expect(blocks).toHaveLength(readme.match(/```yaml/g)?.length ?? 0);
  expect(blocks.filter((block) => !examples.some((example) => isPart(block, example)))).toEqual([]);
});

/** Whether the lines of the block are lines of the example, in a row and with the same indentation for all. */
function isPart(block: string, example: string): boolean {
  const indented = [0, 2, 4, 6, 8, 10].map((depth) => block.replaceAll(/^(?=.)/gm, ' '.repeat(depth)));
  return indented.some((lines) => `\n${example}`.includes(`\n${lines}\n`));
}
