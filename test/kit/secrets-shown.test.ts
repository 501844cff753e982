import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noLeftovers, parentKey, setKeyStage } from './key-stage.js';

const forms: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  'a part of it': (secret) => secret.slice(4, 20),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 of a header': (secret) => Buffer.from(`x: Bearer ${secret}`).toString('base64'),
  base64url: (secret) => Buffer.from(`?${secret}`).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'in a URL': (secret) => encodeURIComponent(secret),
  'in a form': (secret) => new URLSearchParams({ secret }).toString(),
  'in JSON': (secret) => JSON.stringify({ secret }),
  'in HTML': (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;'),
  'in a command': (secret) => `::notice::${secret.replaceAll('%', '%25')}`,
};

test('the search for secrets finds every encoded form of a key in every file and stream', async (context) => {
  const stage = await setKeyStage(context);
  const main = await stage.startCreate().done;
  const post = await stage.runPost(main);
  const shown = (result = post) => stage.leftovers(main, result).secretsShown;
  expect(shown()).toEqual([]);
  const minted = main.outputs['key'] ?? '';
  const expectFound = (path: string, text: string) => {
    const before = existsSync(path) ? readFileSync(path) : '';
    appendFileSync(path, text);
    expect(shown(), text).toEqual([expect.stringContaining(`${path}: `)]);
    writeFileSync(path, before);
  };
  for (const [name, form] of Object.entries(forms))
    for (const secret of [minted, parentKey])
      expectFound(join(main.job.temp, name), `some text ${form(secret)} and more`);
  const { output, state, summary } = main.files;
  expectFound(output, `key<<D\n${parentKey}\nD\n`);
  expectFound(output, `other<<D\n${minted}\nD\n`);
  expectFound(state, `key<<D\n${JSON.stringify({ name: minted })}\nD\n`);
  expectFound(state, `other<<D\n${JSON.stringify({ minted: { secret: minted } })}\nD\n`);
  expectFound(summary, minted);
  expect(shown({ ...post, stderr: `Error: ${minted}` })).toHaveLength(1);
  expect(shown({ ...post, stdout: `::add-mask::x${minted}\n` })).toHaveLength(1);
});

test('a live key counts as unnamed until a warning shows its id or name', async (context) => {
  const stage = await setKeyStage(context);
  const main = await stage.startCreate().done;
  const { 'key-id': id = '', 'key-name': name = '' } = main.outputs;
  const unnamedAfter = (kind: 'warning' | 'notice', message: string) => {
    const annotations = [{ kind, message, raw: message, source: 'action' as const, shown: true }];
    return stage.leftovers(main, { ...main, annotations }).unnamed;
  };
  expect(stage.leftovers(main, main)).toEqual({ ...noLeftovers, alive: [id], unnamed: [id] });
  expect(unnamedAfter('warning', `Key ${id} is left`)).toEqual([]);
  expect(unnamedAfter('warning', `One named ${name}.`)).toEqual([]);
  expect(unnamedAfter('warning', `Key ${id}1, ${name}1`)).toEqual([id]);
  expect(unnamedAfter('notice', `Key ${id} is left`)).toEqual([id]);
});
