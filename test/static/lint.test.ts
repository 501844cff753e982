import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const code = `const load = (n: number) => Promise.resolve(n);
export async function get() { try { return load(1); } catch { return 0; } }
export const arrow = async () => { try { return load(2); } catch { return 0; } };
export class A { private async get() { try { return load(3); } catch { return 0; } } readonly b = this.get; }
export async function awaited() { try { return await load(4); } catch { return 0; } }
`;

test('the linter rejects a promise that is returned from a `try` without `await`', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'sample.ts'), code);
  const options = ['--vcs-enabled=false', '--config-path=.', '--reporter=json'];
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'lint', ...options, folder];
  const { diagnostics } = JSON.parse(spawnSync(process.execPath, biome, { encoding: 'utf8' }).stdout);
  const message = expect.stringMatching(/^Await this call before the return/);
  expect(diagnostics).toMatchObject([2, 3, 4].map((line) => ({ message, location: { start: { line } } })));
});
