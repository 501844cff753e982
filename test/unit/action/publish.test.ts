import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { StepReport } from '../../../src/action/publish.js';
import { publishLogAndSummary, publishOutputs } from '../../../src/action/publish.js';
import { Secrets } from '../../../src/action/secrets.js';
import type { Toolkit } from '../../../src/action/toolkit.js';
import { printResult, recordsForOutput } from '../../../src/modes/list/report.js';
import type { JsonObject } from '../../../src/text/json.js';

const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a step that ends so says, and leaves: lines and summary, outputs, and its file. */
async function published(ending: Partial<StepReport>, secret: string) {
  const said: string[] = [];
  const outputs = new Map<string, string>();
  const say = (line: string) => void said.push(line);
  const toolkit: Toolkit = {
    input: () => '',
    mask: () => undefined,
    info: say,
    notice: say,
    warning: say,
    error: say,
    debug: say,
    output: (name, value) => void outputs.set(name, value),
    state: () => undefined,
    variable: () => undefined,
    summary: async (markdown) => say(markdown),
  };
  const secrets = new Secrets(toolkit.mask);
  secrets.add(secret);
  const report = { status: 'error', succeeded: false, headline: 'It ended', ...ending };
  const environment = { RUNNER_TEMP: folder };
  const context = { toolkit, secrets, environment, mode: 'wait-operation', wantsSummary: true };
  publishOutputs(report, 1, context);
  await publishLogAndSummary(report, context);
  const path = outputs.get('result-file') ?? '';
  return { said, outputs, path, file: readFileSync(path, 'utf8') };
}

const key = 'a&key"that-must-not-leak';

for (const error of [undefined, `the error holds ${key}`]) {
  test(`no secret gets further, ${error === undefined ? 'green' : 'red'}`, async () => {
    const { said, outputs, path, file } = await published(
      {
        headline: `The headline holds ${key}`,
        error,
        notice: `the notice holds ${key}`,
        outputs: [{ name: 'operations', value: JSON.stringify([key]) }],
        result: [JSON.stringify({ key })],
      },
      key,
    );
    for (const text of [...said, ...outputs.values(), file]) expect(text).not.toContain('must-not-leak');
    expect(outputs.get('operations')).toBe('["***"]');
    expect(JSON.parse(file)).toEqual({ key: '***' });
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  });
}

test('no output and no file holds ##[, and their JSON says the same, whatever the records', async () => {
  const text = fc
    .array(fc.constantFrom('##[', '#', '[', '##[error]', '\\', '"', '\\u0023', '\n', '🙂', 'x'), { maxLength: 8 })
    .map((tokens) => tokens.join(''));
  const record: fc.Arbitrary<JsonObject> = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })), {
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 4 }), async (objects) => {
      const records = objects.map((object) => ({ record: object }));
      const { outputs, file } = await published(
        {
          outputs: [{ name: 'operations', value: recordsForOutput(records), rank: 1, holdsRecords: true }],
          result: printResult({ status: 'ok' }, 'operations', records),
        },
        'no-such-key',
      );
      for (const printed of [...outputs.values(), file]) expect(printed).not.toContain('##[');
      expect(JSON.parse(outputs.get('operations') ?? '')).toEqual(objects);
      expect(JSON.parse(file)).toEqual({ status: 'ok', operations: objects });
    }),
    { numRuns: 300, examples: [[[{ '###[error]': ['\\##[debug]##[x]'] }]]] },
  );
});

test.each(['se##[cret', '##[secret', 'secret##[', 'secret##', '#[secret', '[secret'])(
  'a secret that ##[ is a part of, such as %s, is taken out',
  async (secret) => {
    const value = JSON.stringify([`##${secret}[`]);
    const { outputs, file } = await published({ outputs: [{ name: 'keys', value }], result: [value] }, secret);
    expect(outputs.get('keys')).toBe('["##***["]');
    expect(file).toBe('["##***["]\n');
  },
);

test('what is escaped counts with its full length', async () => {
  const limit = 100 * 1024;
  const ofLength = (length: number) => `["##[${'x'.repeat(length - '["#\\u0023["]'.length)}"]`;
  for (const [length, stays] of [
    [limit - 1, true],
    [limit, false],
  ] as const) {
    const value = ofLength(length);
    const { outputs } = await published(
      { outputs: [{ name: 'keys', value, rank: 1, holdsRecords: true }], result: [value] },
      'no-such-key',
    );
    expect(outputs.get('keys')).toHaveLength(stays ? length : 0);
  }
});

test('the outputs of a step stay below 400 Ki units together, those that every step has included', async () => {
  const ofUnits = async (batches: number) => {
    const { outputs } = await published(
      {
        outputs: [
          { name: 'projects', value: '🙂'.repeat(20_000), rank: 1, holdsRecords: true },
          { name: 'project-ids', value: 'é'.repeat(150_000), rank: 2 },
          { name: 'batches', value: 'x'.repeat(batches), rank: 3 },
        ],
        result: ['{}'],
      },
      'no-such-key',
    );
    return { outputs, units: [...outputs.values()].reduce((sum, value) => sum + value.length, 0) };
  };
  const limit = 400 * 1024;
  const { units } = await ofUnits(0);
  const below = await ofUnits(limit - 1 - units);
  expect(below.units).toBe(limit - 1);
  const at = await ofUnits(limit - units);
  expect(at.outputs.get('projects')).toBe('');
  expect(at.units).toBe(limit - 40_000);
  const idsToo = await ofUnits(limit - units + 40_000);
  expect([idsToo.outputs.get('projects'), idsToo.outputs.get('project-ids')]).toEqual(['', '']);
  expect(idsToo.units).toBe(limit - 150_000);
  const all = await ofUnits(limit - units + 190_000);
  expect(['projects', 'project-ids', 'batches'].map((name) => all.outputs.get(name))).toEqual(['', '', '']);
});
