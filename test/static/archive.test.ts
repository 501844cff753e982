import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { setProcess } from '../kit/stage.js';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = join(folder, 'archive.tar.gz');
execFileSync('git', ['archive', '--format=tar.gz', '--prefix=action/', `--output=${file}`, 'HEAD']);
execFileSync('tar', ['-xzf', file, '-C', folder]);

test('the archive of the action that a job downloads has at most 300 kB and 30 files', () => {
  expect(statSync(file).size).toBeLessThan(300_000);
  const entries = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trimEnd().split('\n');
  expect(entries.filter((path) => !path.endsWith('/')).length).toBeLessThanOrEqual(30);
});

// Attributes of git can leave files out of an archive, and change their content.
test('the archive of the action holds its files exactly as committed', () => {
  const compare = ['diff', '--name-status', 'HEAD', '--', 'action.yml', 'node24', 'dist'];
  const inArchive = ['--no-optional-locks', `--work-tree=${join(folder, 'action')}`];
  expect(execFileSync('git', [...inArchive, ...compare], { encoding: 'utf8' })).toBe('');
});

test.for(['action.yml', 'node24/action.yml'])('main and post of %s run from the archive', async (path, context) => {
  const stage = await setProcess(context);
  const actionYml = join(folder, 'action', path);
  const result = await stage.run({ 'operation-id': stage.operation({ lengthMs: 0 }).id }, { actionYml });
  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(await stage.runPost(result)).toMatchObject({ conclusion: 'success' });
});
