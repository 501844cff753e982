import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readOperationIds } from '../../../../src/action/inputs/response-file.js';
import { refusal } from './refusal.js';

const one = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const two = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';
const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
const path = join(folder, 'answer.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function idsIn(text: string | Uint8Array, projectId: string | undefined = 'p'): string[] {
  writeFileSync(path, text);
  return readOperationIds(path, projectId);
}

test.each<[string, string, string[]]>([
  ['a list', `{"operations":[{"id":"${one}"},{"id":"${two}"}]}`, [one, two]],
  ['one', `{"operation":{"id":"${one}","project_id":"p"}}`, [one]],
  ['one that says null where it could name its project', `{"operation":{"id":"${one}","project_id":null}}`, [one]],
  ['both', `{"operation":{"id":"${two}"},"operations":[{"id":"${one}"}]}`, [one, two]],
  ['the same twice', `{"operation":{"id":"${one}"},"operations":[{"id":"${one.toUpperCase()}"}]}`, [one]],
  ['none', '{"operations":[]}', []],
  ['none beside null', '{"operations":[],"operation":null}', []],
  ['one beside null', `{"operations":null,"operation":{"id":"${one}"}}`, [one]],
  ['a mark at the start', `\uFEFF{"operations":[{"id":"${one}"}]}\r\n`, [one]],
])('of an answer with %s come its ids', (_, text, ids) => {
  expect(idsIn(text)).toEqual(ids);
});

test.each<[string, string, RegExp]>([
  ['that is empty', '', /is empty/],
  ['of blanks', ' \n', /is empty/],
  ['with headers before its body', 'HTTP/2 200\n\n{"hunter2":1}', /is not JSON.*without -i/],
  ['of two bodies', '{"operations":[]}{"hunter2":1}', /is not JSON/],
  ['that was cut', '{"hunter2":1', /is not JSON/],
  ['with an error of the service', '{"code":"hunter2","message":"hunter2"}', /contains no operations.*fail-with-body/],
  ['with another list', '{"projects":[{"id":"hunter2"}]}', /contains no operations/],
  ['with a list alone', `[{"id":"${one}","hunter2":1}]`, /contains no operations/],
  ['with a text', '"hunter2"', /contains no operations/],
  ['with null', 'null', /contains no operations/],
  ['with operations that are null', '{"operations":null,"operation":null}', /contains no operations/],
  ['with operations that are a text', '{"operations":"hunter2"}', /is not an array/],
  ['with operations that are an object', `{"operations":{"id":"${one}"}}`, /is not an array/],
  ['with half a record', `{"operations":[{"id":"${one}"},{"hunter2":1}]}`, /operations\[1\]\.id/],
  ['with an id that is a number', '{"operation":{"id":7}}', /operation\.id/],
  ['with an id that is none', '{"operation":{"id":"hunter2"}}', /operation\.id.*UUID/],
  ['with an id that is the word all', '{"operation":{"id":"all"}}', /operation\.id.*UUID/],
  ['of another project', `{"operation":{"id":"${one}","project_id":"hunter2"}}`, /another project.*project-id/],
])('a file %s is refused, and nothing of it is shown', (_, text, message) => {
  const said = refusal(() => idsIn(text));
  expect(said).toMatch(message);
  expect(said).not.toContain('hunter2');
});

test('a file that is not there, and a folder', () => {
  expect(refusal(() => readOperationIds(join(folder, 'nowhere'), 'p'))).toMatch(
    /does not exist.*workspace.*container:.*paths .* differ.*GITHUB_WORKSPACE/,
  );
  expect(refusal(() => readOperationIds(folder, 'p'))).toMatch(/not a regular file.*expected the file/);
  expect(refusal(() => readOperationIds('a\u0000b', 'p'))).toMatch(/cannot be read|does not exist/);
});

test('where the project-id is bad itself, the file is looked at all the same', () => {
  writeFileSync(path, `{"operation":{"id":"${one}","project_id":"other"}}`);
  expect(readOperationIds(path, undefined)).toEqual([one]);
});

test('any bytes give ids or a refusal', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => new TextEncoder().encode(text)),
      ),
      (bytes) => {
        expect(refusal(() => idsIn(bytes))).not.toBe('');
      },
    ),
    { numRuns: 50 },
  );
});

test('a project that is named by a number is the one that project-id names by its digits', () => {
  const text = `{"operations":[{"id":"${one}","project_id":12345678901234567890}],"project":{"id":12345678901234567890}}`;
  expect(idsIn(text, '12345678901234567890')).toEqual([one]);
  expect(refusal(() => idsIn(text, '12345678901234567000'))).toMatch(/another project/);
});
