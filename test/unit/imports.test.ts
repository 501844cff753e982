import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';

interface Import {
  readonly from: string;
  /** A path below src, or the name of a package. */
  readonly to: string;
}

const source = resolve('src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.split(sep).join('/'));
const imports = files.flatMap(importsOf);

const mayImport: Readonly<Record<string, readonly string[]>> = {
  time: ['time'],
  text: ['text'],
  http: ['http', 'time', 'text'],
  api: ['api', 'http', 'time', 'text'],
  action: ['action', 'keys', 'api', 'http', 'time', 'text'],
  keys: ['keys', 'action', 'api', 'http', 'time', 'text'],
  operations: ['operations', 'action', 'api', 'time', 'text'],
  modes: ['modes', 'action', 'keys', 'operations', 'api', 'http', 'time', 'text'],
};

/** Of the files in modes, keys and operations: all others know nothing of GitHub Actions. */
const mayKnowAction = /(^|\/)(settings|report|messages|table)\.ts$/;
/** The post step wires itself. `mode.ts` needs the types of what a mode reads and reports. */
const exceptions = ['modes/post/step.ts', 'modes/mode.ts'];

/** The files directly in src wire, and may import everything. */
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : 'src';
}

function read(file: string): string {
  return readFileSync(join(source, file), 'utf8');
}

function importsOf(file: string): Import[] {
  const targets = read(file).matchAll(/(?:^import|\bfrom|\b(?:import|require)\()\s*['"]([^'"]+)['"]/gm);
  return [...targets].map(([, target = '']) => ({ from: file, to: resolved(file, target) }));
}

function resolved(file: string, target: string): string {
  if (!target.startsWith('.')) return target;
  const path = relative(source, resolve(source, posix.dirname(file), target));
  return path.split(sep).join('/').replace(/\.js$/, '.ts');
}

test('there are imports to look at, and each leads to a file or a package', () => {
  const ours = imports.filter(({ to }) => to.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(20);
  expect(ours.length).toBeGreaterThan(50);
  expect(ours.filter(({ to }) => !files.includes(to))).toEqual([]);
});

test.each(Object.entries(mayImport))('src/%s imports of ours only %j', (folder, allowed) => {
  const own = imports.filter(({ from, to }) => folderOf(from) === folder && to.endsWith('.ts'));
  // The post step is wired here, as src/step.ts wires the others.
  const astray = own.filter(({ from, to }) => !allowed.includes(folderOf(to)) && from !== 'modes/post/step.ts');
  expect(astray).toEqual([]);
});

test('every folder of src has its rule', () => {
  const folders = new Set(files.map(folderOf));
  expect([...folders].sort()).toEqual([...Object.keys(mayImport), 'src'].sort());
});

test('in a folder of a mode only settings, reports and messages know src/action', () => {
  const ofAction = imports.filter(
    ({ from, to }) => !['action', 'src'].includes(folderOf(from)) && folderOf(to) === 'action',
  );
  expect(ofAction.filter(({ from }) => !mayKnowAction.test(from) && !exceptions.includes(from))).toEqual([]);
  expect(read('modes/mode.ts')).not.toMatch(/^(?!import type ).*\/action\//m);
  expect(exceptions.filter((file) => !files.includes(file))).toEqual([]);
});

test('only src/action knows the toolkit of GitHub Actions, only src/http an HTTP client, only workflow-runs.ts that of GitHub', () => {
  const importersOf = (name: string) => imports.filter(({ to }) => to === name).map(({ from }) => from);
  expect(importersOf('@actions/core')).toEqual(['action/toolkit.ts']);
  expect(new Set(importersOf('@actions/http-client').map(folderOf))).toEqual(new Set(['http']));
  expect(importersOf('@actions/github')).toEqual(['modes/sweep-keys/workflow-runs.ts']);
});
