import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attacks, text } from '../kit/hostile-values.js';
import { modes } from '../kit/inputs.js';
import { setStage } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import { loadManifest } from '../runner/manifest.js';

/** No variable of the environment holds a zero, or half a pair of UTF-16. */
function asVariable(written: string): string {
  return written.replaceAll('\0', '').replace(/\p{Cs}/gu, '\uFFFD');
}

const value = text.map(asVariable);
const names = [...loadManifest().inputs.keys()].filter((name) => !['mode', 'api-key', 'github-token'].includes(name));
const rejection = { status: 403, body: '{}' };

test('inputs of any text fail the step with an error that is only text, and bad inputs send nothing', async (context) => {
  const stage = await setStage(context, { oneJob: true, respond: () => rejection });
  const inputs = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 5, noNullPrototype: true });
  const mode = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...modes) }, { weight: 1, arbitrary: value });
  await fc.assert(
    fc.asyncProperty(mode, inputs, async (word, given) => {
      const before = stage.paths().length;
      const result = await stage.runMode(word, given, { debug: true });
      expect(defectsOf(result)).toEqual([]);
      expect(result.conclusion).toBe('failure');
      if (/[Bb]ad input/.test(result.log)) expect(stage.paths()).toHaveLength(before);
    }),
    { numRuns: 80 },
  );
});

test.for(Object.entries(attacks))('%s in a project, a pattern or a name is text', async ([, attack], context) => {
  const odd = asVariable(attack);
  const project = `x${odd.replace(/[/\p{Cc}\s,]/gu, '-')}`;
  // Text after = could begin a second condition.
  const pattern = odd.replace(/[\n\r=]/g, ' ').slice(0, 200);
  const stage = await setStage(context, {
    respond: (path) => (path.startsWith('api_keys') ? '[]' : '{"operations":[]}'),
  });
  for (const inputs of [
    { mode: 'wait-operation', 'project-id': project, 'operation-id': 'all', filter: `branch_id=${pattern}x` },
    { mode: 'list-operations', 'project-id': project, filter: `branch_id!=${pattern}x` },
    { mode: 'revoke-key', 'key-name': odd },
  ]) {
    const result = await stage.runMode(inputs.mode, inputs, { debug: true });
    expect(defectsOf(result), inputs.mode).toEqual([]);
    expect(result.conclusion, inputs.mode).toBe('success');
  }
  const filter = `name=x\n${odd.replaceAll('=', '-')}`;
  const { annotations, ...rejected } = await stage.runMode('list-keys', { filter }, { debug: true });
  expect(defectsOf({ annotations, ...rejected })).toEqual([]);
  expect(annotations[0]?.message).toMatch(/line \d+, column \d+: .*\n {2}.{0,80}\n +\^/);
});

test('an API key of any text is never shown', async (context) => {
  const stage = await setStage(context, { oneJob: true, respond: () => '[]' });
  const secret = fc.string({ unit: 'binary-ascii', minLength: 12, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(secret, async (written) => {
      const key = asVariable(written).trim();
      fc.pre(key.length >= 8);
      const inputs = { 'api-key': key, 'project-id': `x${key}` };
      const { lines, summary } = await stage.runMode('list-keys', inputs, { debug: true });
      const shown = lines.map((line) => line.text).filter((line) => !line.startsWith('::add-mask::'));
      expect([...shown, summary].filter((line) => line.includes(key))).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
