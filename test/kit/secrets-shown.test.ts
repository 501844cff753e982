import { Buffer } from 'node:buffer';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noLeftovers, parentKey, setKeyStage } from './key-stage.js';

/** How a secret can stand in a text. */
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

test('the search for secrets finds every form, in every file and stream', async (context) => {
  const stage = await setKeyStage(context);
  const main = await stage.startCreate().done;
  const post = await stage.runPost(main);
  const shown = (result = post) => stage.leftovers(main, result).secretsShown;
  expect(shown()).toEqual([]);

  const minted = main.outputs['key'] ?? '';
  const leftBehind = Object.entries({ minted, parent: parentKey }).flatMap(([whose, secret]) =>
    Object.entries(forms).map(([name, form]) => {
      const file = join(main.job.temp, `${whose} ${name}`);
      writeFileSync(file, `some text ${form(secret)} and more`);
      return file;
    }),
  );
  expect(
    shown()
      .map((found) => found.split(': ')[0])
      .toSorted(),
  ).toEqual(leftBehind.toSorted());
  for (const file of leftBehind) rmSync(file);
  const { output, state, summary } = main.files;
  for (const [path, text] of [
    [output, `key<<D\n${parentKey}\nD\n`],
    [output, `other<<D\n${minted}\nD\n`],
    [state, `key<<D\n${JSON.stringify({ name: minted })}\nD\n`],
    [state, `other<<D\n${JSON.stringify({ minted: { secret: minted } })}\nD\n`],
    [summary, minted],
  ] as const) {
    const before = readFileSync(path);
    appendFileSync(path, text);
    expect(shown(), text).toHaveLength(1);
    writeFileSync(path, before);
  }
  expect(shown({ ...post, stderr: `Error: ${minted}` })).toHaveLength(1);
  expect(shown({ ...post, stdout: `::add-mask::x${minted}\n` })).toHaveLength(1);
});

test('a key that is alive is unnamed until a warning or an error names it', async (context) => {
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
