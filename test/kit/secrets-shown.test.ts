import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parentKey, setKeyStage } from './key-stage.js';

const forms: readonly ((secret: string) => string)[] = [
  (secret) => secret.slice(4, 20),
  (secret) => Buffer.from(`x: Bearer ${secret}`).toString('base64'),
  (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  (secret) => encodeURIComponent(secret),
  (secret) => JSON.stringify({ secret }),
  (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;'),
];

test('the search for secrets finds encoded forms of a key in files and streams', async (context) => {
  const stage = await setKeyStage(context);
  const main = await stage.startCreate().done;
  const post = await stage.runPost(main);
  const minted = main.outputs['key'] ?? '';
  const shown = (result = post) => stage.leftovers(main, result).secretsShown;
  expect(shown()).toEqual([]);
  const path = join(main.job.temp, 'a file');
  for (const text of forms.flatMap((form) => [form(minted), form(parentKey)])) {
    writeFileSync(path, `some text ${text} and more`);
    expect(shown(), text).toEqual([expect.stringContaining(path)]);
  }
  rmSync(path);
  expect(shown({ ...post, stdout: `::add-mask::x${minted}\n` })).toHaveLength(1);
});
