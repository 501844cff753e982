import { Buffer } from 'node:buffer';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { parentKey, setKeyStage } from './key-stage.js';

/** How a secret can come to stand in a text. */
const forms: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  'a part of it': (secret) => secret.slice(4, 20),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 of a header': (secret) => Buffer.from(`x: Bearer ${secret}`).toString('base64'),
  base64url: (secret) => Buffer.from(`?${secret}`).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'URL-encoded': (secret) => encodeURIComponent(secret),
  'as a form': (secret) => new URLSearchParams({ secret }).toString(),
  'in JSON': (secret) => JSON.stringify({ secret }),
  'as a command': (secret) => `::notice::${secret.replaceAll('%', '%25')}`,
};

test.concurrent('main and post leave the parent key in no file and no stream', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const main = await stage.runCreate();
  const post = await stage.runPost(main);
  expect(main.outputs['key']).toMatch(/^\S{8,}$/);
  expect(stage.aftermath(main, post).shown).toEqual([]);
});

test.concurrent('the search for secrets finds every form, wherever it stands', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const main = await stage.runCreate();
  const post = await stage.runPost(main);
  const shown = () => stage.aftermath(main, post).shown;
  expect(shown()).toEqual([]);

  const minted = main.outputs['key'] ?? '';
  const file = join(main.job.temp, 'left-behind');
  for (const secret of [minted, parentKey]) {
    for (const [name, form] of Object.entries(forms)) {
      writeFileSync(file, `some text ${form(secret)} and more`);
      expect(shown(), name).toHaveLength(1);
    }
  }
  rmSync(file);
  expect(shown()).toEqual([]);
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
  const leaking = { ...post, bytes: { ...post.bytes, stderr: Buffer.from(`Error: ${minted}`) } };
  expect(stage.aftermath(main, leaking).shown).toHaveLength(1);
  const masking = { ...post, bytes: { ...post.bytes, stdout: Buffer.from(`::add-mask::x${minted}\n`) } };
  expect(stage.aftermath(main, masking).shown).toHaveLength(1);
});

test.concurrent('a key that is alive counts as untold until an alarm names it', async (context) => {
  const { expect } = context;
  const stage = await setKeyStage(context);
  const main = await stage.runCreate();
  const { 'key-id': id = '', 'key-name': name = '' } = main.outputs;
  const told = (kind: 'warning' | 'notice', message: string) => {
    const annotations = [{ kind, message, raw: message, source: 'action' as const, shown: true }];
    return stage.aftermath(main, { ...main, annotations }).untold;
  };

  expect(stage.aftermath(main, main)).toMatchObject({ alive: [id], untold: [id], shown: [] });
  expect(told('warning', `Key ${id} is left`)).toEqual([]);
  expect(told('warning', `One named ${name}.`)).toEqual([]);
  expect(told('warning', `Key ${id}1, ${name}1`)).toEqual([id]);
  expect(told('notice', `Key ${id} is left`)).toEqual([id]);
});
