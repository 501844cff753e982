import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Job } from '../runner/job.js';
import { parentKey } from './key-stage.js';
import { secretsShown } from './secrets-shown.js';

const forms: Readonly<Record<string, string>> = {
  'a piece': parentKey.slice(4, 20),
  base64: Buffer.from(`x: Bearer ${parentKey}`).toString('base64'),
  base64url: Buffer.from(`x: Bearer ${parentKey}`).toString('base64url'),
  hex: Buffer.from(parentKey).toString('hex').toUpperCase(),
  'a URL': encodeURIComponent(parentKey),
  JSON: JSON.stringify({ parentKey }),
  HTML: parentKey.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;'),
  'a mask of more': `::add-mask::x${parentKey}`,
};

test.for(Object.entries(forms))('the search for secrets finds %s in streams and files', ([, form], context) => {
  const job = new Job();
  context.onTestFinished(() => job.dispose());
  const shown = (stdout: string) => secretsShown([{ stdout, stderr: '', job }], { minted: [], others: [parentKey] });
  expect(shown(`::add-mask::${parentKey.replaceAll('%', '%25')}\n`)).toEqual([]);
  expect(shown(`some text\n${form}\nand more`)).toHaveLength(1);
  writeFileSync(join(job.temp, 'a-file'), `some text ${form} and more`);
  expect(shown('')).toHaveLength(1);
});
