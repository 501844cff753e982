import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.replaceAll('\\', '/'));

/** Each folder imports from folders above it alone, so folders make no circle. Biome finds circles of files. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  time: ['time'],
  text: ['text'],
  http: ['http', 'time', 'text'],
  api: ['api', 'http', 'time', 'text'],
  action: ['action', 'api', 'http', 'time', 'text'],
  keys: ['keys', 'api', 'http', 'time', 'text'],
  post: ['post', 'action', 'keys', 'api', 'http', 'time', 'text'],
  modes: ['modes', 'action', 'keys', 'api', 'http', 'time', 'text'],
};

/** Of the files in modes and post: all others know nothing of GitHub Actions. `mode.ts` knows only types. */
const mayKnowAction =
  /(^|[-/])((create|revoke|sweep)-keys?|lists|settings|current-run|filter|report|operations|mode)\.ts$/;

/** The files directly in src wire, and may import everything. */
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : 'src');
const read = (file: string) => readFileSync(join('src', file), 'utf8');

/** `to` is a path below src, or the name of a package. */
function importsOf(file: string) {
  const targets = read(file).matchAll(/(?:^import|\bfrom|\b(?:import|require)\()\s*['"]([^'"]+)['"]/gm);
  const resolved = (target: string) => posix.join(posix.dirname(file), target).replace(/\.js$/, '.ts');
  return [...targets].map(([, to = '']) => ({ from: file, to: to.startsWith('.') ? resolved(to) : to }));
}

const imports = files.flatMap(importsOf);

test('each folder of src imports only from itself and from the earlier folders that are listed for it', () => {
  const folders = Object.keys(mayImport);
  expect(new Set(files.map(folderOf))).toEqual(new Set([...folders, 'src']));
  const ours = imports.filter(({ from, to }) => folderOf(from) !== 'src' && to.endsWith('.ts'));
  expect(ours.length).toBeGreaterThan(50);
  expect(ours.filter(({ from, to }) => !mayImport[folderOf(from)]?.includes(folderOf(to)))).toEqual([]);
  for (const [n, allowed] of Object.values(mayImport).entries())
    expect(allowed.filter((folder) => !folders.slice(0, n + 1).includes(folder))).toEqual([]);
});

test('outside src/action and the entries, only files that read inputs or write reports import src/action', () => {
  const importers = imports.filter(({ to }) => folderOf(to) === 'action').map(({ from }) => from);
  const others = importers.filter((from) => !['action', 'src'].includes(folderOf(from)) && !mayKnowAction.test(from));
  expect(others).toEqual([]);
  expect(read('modes/mode.ts')).not.toMatch(/^(?!import type ).*\/action\//m);
});
