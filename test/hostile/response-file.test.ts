import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { harm } from './harm.js';
import { projectId, step, type Told } from './in-process.js';
import { json, record, text } from './texts.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A wait for what is in the file; the service shows each operation as finished. */
function waitFor(bytes: string | Uint8Array): Promise<Told> {
  const path = join(folder, 'response.json');
  writeFileSync(path, bytes);
  return step({ mode: 'wait-operation', 'project-id': projectId, 'response-file': path }, ({ url }) => ({
    body: `{"operation":{"id":"${url.pathname.split('/').at(-1)}","status":"finished"}}`,
  }));
}

test('any bytes are an answer with operations, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const told = await waitFor(bytes);
      expect(harm(told, false)).toEqual([]);
      expect(told.succeeded).toBe(false);
    }),
    { numRuns: 40 },
  );
});

test('an answer of any shape is refused, or waited for by its ids and nothing else', async () => {
  const secret = 'postgres://u:hunter2@host';
  const operation = record({ id: `"${id}"`, project_id: `"${projectId}"`, uri: `"${secret}"` });
  const whole = fc.oneof(
    operation.map((one) => `{"operation":${one},"connection_uris":["${secret}"]}`),
    fc.array(operation, { maxLength: 3 }).map((all) => `{"operations":[${all}],"password":"hunter2"}`),
    json,
    text.map((written) => `${secret}${written}`),
  );
  await fc.assert(
    fc.asyncProperty(whole, async (written) => {
      const told = await waitFor(written);
      expect(harm(told, told.succeeded)).toEqual([]);
      const shown = [...told.lines.map(({ text: line }) => line), told.summary, ...Object.values(told.outputs)];
      expect(shown.filter((line) => /hunter2|HACKED/.test(line))).toEqual([]);
      if (told.succeeded && told.outputs['count'] === '0')
        expect(JSON.parse(written)).toMatchObject({ operations: [] });
    }),
    { numRuns: 60 },
  );
});

test('a path of any text is refused as text', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (path) => {
      const inputs = { mode: 'wait-operation', 'project-id': projectId, 'response-file': `${path}/x` };
      expect(harm(await step(inputs, () => ({})), false)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
