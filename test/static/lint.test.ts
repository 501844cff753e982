import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const body = (returned: string) => `{ try { ${returned} } catch { return 0; } }`;

/** The messages of the linter, with this project's settings, on each sample. */
function lint(samples: Readonly<Record<string, string>>): Record<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  try {
    for (const [name, code] of Object.entries(samples)) writeFileSync(join(folder, `${name}.ts`), code);
    const biome = 'node_modules/@biomejs/biome/bin/biome';
    const { stdout } = spawnSync(process.execPath, [biome, 'lint', '--config-path=.', '--reporter=json', folder]);
    const { diagnostics } = JSON.parse(String(stdout)) as {
      diagnostics: { message: string; location: { path: string } }[];
    };
    const messagesOn = (name: string) => diagnostics.filter(({ location }) => location.path.endsWith(`/${name}.ts`));
    return Object.fromEntries(
      Object.keys(samples).map((name) => [name, messagesOn(name).map(({ message }) => message)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the linter rejects a promise that is returned from a `try` without `await`', () => {
  const rejected = [expect.stringMatching(/^Await this call before the return/)];
  const load = '(load: () => Promise<number>)';
  expect(
    lint({
      function: `export async function get${load} ${body('return load();')}`,
      arrow: `export const get = async ${load} => ${body('return load();')};`,
      method: `export class A { async get${load} ${body('return load();')} }`,
      'private-method': `export class A { private async get${load} ${body('return load();')} readonly a = this.get; }`,
      'object-method': `export const a = { async get${load} ${body('return load();')} };`,
      awaited: `export async function get${load} ${body('return await load();')}`,
      synchronous: `export function get(load: () => number) ${body('return load();')}`,
    }),
  ).toEqual({
    function: rejected,
    arrow: rejected,
    method: rejected,
    'private-method': rejected,
    'object-method': rejected,
    awaited: [],
    synchronous: [],
  });
});
