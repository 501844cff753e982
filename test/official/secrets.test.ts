import { expect, test } from 'vitest';
import { parentKey } from '../scenarios/key-stage.js';
import { act, setStage } from './stage.js';

// The runner itself derives base64, JSON and URI; the action masks hex and base64url of a key that it hands to later steps.
const forms = (secret: string) => ({
  plain: secret,
  base64: Buffer.from(secret).toString('base64'),
  base64url: Buffer.from(secret).toString('base64url'),
  hex: Buffer.from(secret).toString('hex'),
  json: JSON.stringify(secret).slice(1, -1),
  uri: encodeURIComponent(secret),
});

/** Prints a key in every form, also as an annotation, in the summary, and as outputs. */
const show = `node -e '
const { appendFileSync } = require("node:fs");
const forms = ${forms.toString()};
for (const [name, text] of Object.entries(forms(process.env.KEY))) {
  console.log(name + " " + text);
  console.log("::warning::" + name + " " + text);
  console.log("::debug::" + name + " " + text);
  appendFileSync(process.env.GITHUB_OUTPUT, name + "=" + text + "\\n");
  appendFileSync(process.env.GITHUB_STEP_SUMMARY, name + " " + text + "\\n");
}
'`;

test.concurrent('no form of the parent key or of a minted key reaches the log, an annotation, or an output of the job', async (context) => {
  const { service, run } = await setStage(context, { apiKey: parentKey });
  const names = Object.keys(forms(''));

  const job = await run({
    debug: true,
    outputs: {
      key: '${{ steps.mint.outputs.key }}',
      'key-id': '${{ steps.mint.outputs.key-id }}',
      'key-name': '${{ steps.mint.outputs.key-name }}',
      status: '${{ steps.mint.outputs.status }}',
      'duration-ms': '${{ steps.mint.outputs.duration-ms }}',
      ...Object.fromEntries(names.map((name) => [`minted-${name}`, `\${{ steps.minted.outputs.${name} }}`])),
    },
    steps: [
      act('mint', 'create-key', { 'export-env': 'DATABASE_KEY' }),
      { id: 'minted', env: { KEY: '${{ steps.mint.outputs.key }}' }, run: show },
      { id: 'exported', run: `KEY=$DATABASE_KEY ${show}` },
      { id: 'parent', env: { KEY: '${{ secrets.CTL_API_KEY }}' }, run: show },
      act('keys', 'list-keys'),
    ],
  });

  const minted = service.plane.key('2');
  expect(job.conclusion).toBe('succeeded');
  expect(minted?.revokedAt).toBeDefined();
  expect(job.outputs).toEqual({
    'key-id': '2',
    'key-name': minted?.name,
    status: 'ok',
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  expect(job.steps['minted']?.log).toContain('plain ***');
  expect(job.steps['minted']?.warnings).toEqual(names.map((name) => `${name} ***`));
  expect(job.steps['minted']?.summary).toBe(names.map((name) => `${name} ***\n`).join(''));
  expect(job.steps['mint']?.log).toContain('##[debug]');
  // Bodies that are JSON hold a text with its quotes and backslashes escaped.
  const sent = `${job.sent}\n${job.sent.replaceAll('\\\\', '\\').replaceAll('\\"', '"')}`;
  const { base64url, hex, ...formsOfParent } = forms(parentKey);
  for (const [name, text] of Object.entries(forms(minted?.key ?? ''))) expect(sent.includes(text), name).toBe(false);
  for (const [name, text] of Object.entries(formsOfParent)) expect(sent.includes(text), name).toBe(false);
});
