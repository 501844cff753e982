import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Job } from '../runner/job.js';
import { parentKey } from './key-stage.js';
import { secretsShown } from './secrets-shown.js';

const forms: Readonly<Record<string, string>> = {
  'a piece of a key': parentKey.slice(4, 20),
  'a key as base64': Buffer.from(`x: Bearer ${parentKey}`).toString('base64'),
  'a key as base64url': Buffer.from(`x: Bearer ${parentKey}`).toString('base64url'),
  'a key as hex': Buffer.from(parentKey).toString('hex').toUpperCase(),
  'a key in a URL': encodeURIComponent(parentKey),
  'a key in JSON': JSON.stringify({ parentKey }),
  'a key in HTML': parentKey.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;'),
  'a key in a longer mask': `::add-mask::x${parentKey}`,
};

test.for(Object.entries(forms))('the search for leaked secrets finds %s in output and files', ([, form], context) => {
  const job = new Job();
  context.onTestFinished(() => job.dispose());
  const shown = (stdout: string) => secretsShown([{ stdout, stderr: '', job }], { minted: [], others: [parentKey] });
  expect(shown(`::add-mask::${parentKey.replaceAll('%', '%25')}\n`)).toEqual([]);
  expect(shown(`some text\n${form}\nand more`)).toHaveLength(1);
  writeFileSync(join(job.temp, 'a-file'), `some text ${form} and more`);
  expect(shown('')).toHaveLength(1);
});
