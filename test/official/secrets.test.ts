import { expect, test } from 'vitest';
import { parentKey } from '../kit/key-stage.js';
import { act, setStage } from './stage.js';

// The runner itself derives base64, JSON and URI.
const forms = (secret: string) => ({
  plain: secret,
  base64: Buffer.from(secret).toString('base64'),
  base64behind1: Buffer.from(`:${secret}`).toString('base64'),
  base64behind2: Buffer.from(`u:${secret}`).toString('base64'),
  json: JSON.stringify(secret).slice(1, -1),
  uri: encodeURIComponent(secret),
});

/** Behind a prefix the first and last characters hold bits of what stands beside the key. */
const core = (form: string) => form.slice(4, -4);

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

/** Bodies that are JSON hold a text with its quotes and backslashes escaped. */
const unescaped = (text: string) => text.replaceAll('\\\\', '\\').replaceAll('\\"', '"');

test.concurrent.for(['on', 'off'])(
  'with debug logging %s, no encoding of a key reaches the log, an annotation or an output of the job',
  async (logging, context) => {
    const debug = logging === 'on';
    const { service, run } = await setStage(context, { apiKey: parentKey });
    const names = Object.keys(forms(''));

    const job = await run({
      debug,
      outputs: {
        key: '${{ steps.mint.outputs.key }}',
        'key-id': '${{ steps.mint.outputs.key-id }}',
        'key-name': '${{ steps.mint.outputs.key-name }}',
        status: '${{ steps.mint.outputs.status }}',
        ...Object.fromEntries(names.map((name) => [`minted-${name}`, `\${{ steps.minted.outputs.${name} }}`])),
      },
      steps: [
        act('mint', 'create-key'),
        { id: 'minted', env: { KEY: '${{ steps.mint.outputs.key }}' }, run: show },
        { id: 'inlined', run: 'echo "It is ${{ steps.mint.outputs.key }}."' },
        { id: 'environment', env: { DATABASE_KEY: '${{ steps.mint.outputs.key }}' }, run: 'env' },
        { id: 'parent', env: { KEY: '${{ secrets.CTL_API_KEY }}' }, run: show },
        act('keys', 'list-keys', { 'api-key': '${{ steps.mint.outputs.key }}' }),
      ],
    });

    const minted = service.plane.key('2');
    expect(job.conclusion).toBe('succeeded');
    expect(minted?.revokedAt).toBeDefined();
    expect(job.outputs).toEqual({
      'key-id': '2',
      'key-name': minted?.name,
      status: 'ok',
    });
    const masked = names.map((name) => expect.stringMatching(new RegExp(`^${name} .{0,4}\\*{3}.{0,4}$`)));
    expect(job.steps['minted']?.log).toContain('plain ***\n');
    expect(job.steps['minted']?.warnings).toEqual(masked);
    expect(job.steps['minted']?.summary.trimEnd().split('\n')).toEqual(masked);
    expect(job.steps['inlined']?.log).toContain('It is ***.');
    expect(job.steps['environment']?.log).toContain('DATABASE_KEY=***\n');
    expect(job.steps['mint']?.log.includes('##[debug]')).toBe(debug);
    const sent = `${job.sent}\n${unescaped(job.sent)}`;
    for (const key of [minted?.key ?? '', parentKey])
      for (const [name, text] of Object.entries(forms(key))) expect(sent.includes(core(text)), name).toBe(false);
  },
);

test.concurrent('a step masks a parent key that is not a workflow secret, even if its inputs are bad', async (context) => {
  const { service, run } = await setStage(context);
  const key = '${{ steps.vault.outputs.key }}';

  const job = await run({
    secrets: { CTL_API_KEY: 'another-secret' },
    env: { VAULT: service.apiKey },
    steps: [
      { id: 'vault', run: 'echo "key=$VAULT" >> "$GITHUB_OUTPUT"' },
      { id: 'before', env: { KEY: key }, run: 'echo "It is $KEY."' },
      act('bad', 'no-such-mode', { 'api-key': key }, { 'continue-on-error': true }),
      { id: 'after', env: { KEY: key }, run: 'echo "It is $KEY."' },
    ],
  });

  expect(job.steps['before']?.log).toContain(`It is ${service.apiKey}.`);
  expect(job.steps['bad']?.errors).toEqual([expect.stringContaining('no-such-mode')]);
  expect(job.steps['after']?.log).toContain('It is ***.');
});
