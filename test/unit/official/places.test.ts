import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findWorker } from '../../official/places.js';

function makeRunner(): { readonly folder: string; readonly archive: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/Runner.Worker'), '');
  const archive = join(folder, 'runner.tar.gz');
  writeFileSync(archive, '');
  return { folder, archive };
}

test('the worker is taken from a folder or from an archive, the folder first', () => {
  const { folder, archive } = makeRunner();
  expect(findWorker({ RUNNER_ARCHIVE: archive })).toMatchObject({ kind: 'archive', path: archive });
  expect(findWorker({ RUNNER_DIR: folder, RUNNER_ARCHIVE: archive })).toMatchObject({ kind: 'folder', path: folder });
});

test('an archive that was replaced is unpacked anew', () => {
  const { archive } = makeRunner();
  const { home } = findWorker({ RUNNER_ARCHIVE: archive });
  writeFileSync(archive, 'a newer one');
  expect(findWorker({ RUNNER_ARCHIVE: archive }).home).not.toBe(home);
});

test.for([{}, { RUNNER_DIR: '', RUNNER_ARCHIVE: '' }])('without a worker the error says what to set: %j', (env) => {
  expect(() => findWorker(env)).toThrow(/^Set RUNNER_DIR to an unpacked release .+, or RUNNER_ARCHIVE/);
});

test('a path without a worker is named in the error', () => {
  const missing = resolve('nowhere/bin/Runner.Worker');
  expect(() => findWorker({ RUNNER_DIR: 'nowhere' })).toThrow(`${missing} does not exist. Set`);
});
