import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harm } from './harm.js';
import { apiKey, step } from './in-process.js';
import { attacks, text } from './texts.js';

const modes = [
  'wait-operation',
  'list-operations',
  'list-projects',
  'create-key',
  'list-keys',
  'revoke-key',
  'sweep-keys',
];
const others = [
  'base-url',
  'timeout',
  'request-timeout',
  'summary',
  'project-id',
  'operation-id',
  'response-file',
  'filter',
  'fail-on',
  'poll-interval',
  'fail-fast',
  'since',
  'limit',
  'shard',
  'key-label',
  'key-name',
  'key-id',
  'revoke-in-post',
  'on-revoke-failure',
  'export-env',
  'older-than',
  'dry-run',
];

/** No variable of the environment holds a zero, or half a pair of UTF-16. */
function asVariable(written: string): string {
  return written.replaceAll('\0', '').replace(/\p{Cs}/gu, '\uFFFD');
}

const value = text.map(asVariable);

test('whatever the inputs hold, what is wrong with them is told as text, and nothing is sent', async () => {
  const hostile = fc.dictionary(fc.constantFrom(...others), value, { minKeys: 1, maxKeys: 5, noNullPrototype: true });
  const mode = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...modes) }, { weight: 1, arbitrary: value });
  await fc.assert(
    fc.asyncProperty(mode, hostile, async (word, inputs) => {
      let sent = 0;
      const told = await step({ mode: word, ...inputs }, () => {
        sent++;
        return { status: 403, body: '{}' };
      });
      expect(harm(told, told.succeeded)).toEqual([]);
      expect(told.succeeded).toBe(false);
      if (/[Bb]ad input/.test(told.annotations.at(-1)?.raw ?? '')) expect(sent).toBe(0);
    }),
    { numRuns: 80 },
  );
});

test.each(Object.entries(attacks))('%s as project, pattern and name is sent and told as text', async (_, written) => {
  const odd = asVariable(written);
  const asId = `x${odd.replace(/[/\p{Cc}\s,]/gu, '-')}`;
  // Without =, as one behind the name of a field would begin a second condition.
  const pattern = odd.replace(/[\n\r=]/g, ' ').slice(0, 200);
  const calls = [
    { mode: 'wait-operation', 'project-id': asId, 'operation-id': 'all', filter: `branch_id=${pattern}x` },
    { mode: 'list-operations', 'project-id': asId, filter: `branch_id!=${pattern}x` },
    { mode: 'revoke-key', 'key-name': odd },
  ];
  for (const inputs of calls) {
    const told = await step(inputs, ({ url }) => ({
      body: url.pathname.endsWith('/api_keys') ? '[]' : '{"operations":[]}',
    }));
    expect(harm(told, true), inputs.mode).toEqual([]);
    expect(told.succeeded, inputs.mode).toBe(true);
  }
});

test.each(Object.entries(attacks))(
  '%s in a filter is shown as text, with the mark below its column',
  async (_, written) => {
    const odd = asVariable(written);
    const told = await step({ mode: 'list-keys', filter: `name=x\n${odd.replaceAll('=', '-')}` }, () => ({}));
    expect(harm(told, false)).toEqual([]);
    expect(told.annotations[0]?.message).toMatch(/line \d+, column \d+: .*\n {2}.{0,80}\n +\^/);
  },
);

test('a key of any text is never shown', async () => {
  const secret = fc.string({ unit: 'binary-ascii', minLength: 12, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(secret, async (written) => {
      const key = written.replaceAll('\0', '').trim();
      fc.pre(key.length >= 8);
      const told = await step({ mode: 'list-keys', 'api-key': key, 'project-id': `x${key}` }, () => ({ body: '[]' }));
      const open = told.lines.filter(({ text: line }) => !line.startsWith('::add-mask::'));
      expect(open.some(({ text: line }) => line.includes(key))).toBe(false);
      expect(told.summary).not.toContain(key);
    }),
    { numRuns: 40 },
  );
});

test('names of every object are no inputs, modes or fields', async () => {
  for (const word of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const told = await step({ mode: word, filter: `${word}=x`, 'fail-on': word, 'poll-interval': word }, () => ({}));
    expect(harm(told, false), word).toEqual([]);
    const listed = await step({ mode: 'list-keys', filter: `${word}=*` }, () => ({ body: '[]' }));
    expect(listed.annotations[0]?.message, word).toContain('no such field');
  }
});

test('a key that is given as another input is not sent', async () => {
  const told = await step({ mode: 'revoke-key', 'key-name': `::error::${apiKey}` }, () => ({ body: '[]' }));
  expect(harm(told, false)).toEqual([]);
  expect(told.lines.filter(({ text: line }) => line.includes(apiKey))).toEqual([{ text: `::add-mask::${apiKey}` }]);
});
