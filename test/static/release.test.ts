import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const files = {
  'CHANGELOG.md': [
    ...['# Changelog', '## [1.1.0] - 2026-02-03', '- The second.', '## [1.0.0] - 2026-01-02', '### Added'],
    ...['- The first.', '## [0.9.0]', '- Too early.', '[1.0.0]: https://example.com/\n'],
  ].join('\n\n'),
  'action.yml': 'runs',
  'dist/main/index.js': 'main',
  'node24/action.yml': 'runs',
};

/** A clone of a remote. The tests go through a history together: each begins where the one before has ended. */
const folder = mkdtempSync(join(tmpdir(), 'release-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const clone = join(folder, 'clone');
const packed = join(folder, 'packed');
const inClone = { cwd: clone, encoding: 'utf8', stdio: 'pipe' } as const;
const git = (...words: string[]) => execFileSync('git', words, inClone).trim();

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

function commit(version: string): string {
  write('package.json', JSON.stringify({ version }));
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message=Work');
  return git('rev-parse', 'HEAD');
}

function merge(version: string): string {
  const head = commit(version);
  git('push', '--quiet', 'origin', 'HEAD:main');
  return head;
}

function ends(status: number, text: string | RegExp, ...words: string[]): void {
  const node = spawnSync(process.execPath, [resolve('scripts/release.js'), ...words], inClone);
  expect(node.stdout + node.stderr).toMatch(text);
  expect(node.status).toBe(status);
}

const tags = () =>
  Object.fromEntries(
    git('ls-remote', '--tags', 'origin')
      .split('\n')
      .map((line) => line.split('\t').reverse()),
  );
let first = '';

beforeAll(() => {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'remote')]);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone]);
  const config = '[user]\nname = Somebody\nemail = somebody@example.com\n[remote "origin"]\nurl = ../remote\n';
  writeFileSync(join(clone, '.git/config'), `${config}fetch = +refs/heads/*:refs/remotes/origin/*\n`, { flag: 'a' });
  for (const [path, text] of Object.entries(files)) write(path, text);
  first = merge('1.0.0');
});

test('release.js pack writes the release notes, the archive and the checksums of all files that a runner reads', () => {
  ends(0, /^Packed/m, 'pack', '1.0.0', packed);
  expect(readFileSync(join(packed, 'notes.md'), 'utf8')).toBe('### Added\n\n- The first.\n');
  const unpacked = join(folder, 'unpacked');
  for (const from of [clone, join(packed, 'assets')]) cpSync(from, unpacked, { recursive: true });
  const checks = ['--check', '--strict', join(packed, 'checksums.txt')];
  const checked = execFileSync('sha256sum', checks, { cwd: unpacked, encoding: 'utf8' }).match(/^\S+(?=: OK$)/gm);
  expect(checked).toEqual(['ctl-action-1.0.0.tar.gz', 'action.yml', 'dist/main/index.js', 'node24/action.yml']);
});

// All commands begin with the same checks.
test('release.js packs nothing if the version is invalid or a file differs from the commit', () => {
  rmSync(packed, { recursive: true });
  ends(1, /“v1.0.0” is no version of a release/, 'pack', 'v1.0.0', packed);
  ends(1, /package.json says 1.0.0, not 1.1.0/, 'create-tag', '1.1.0');
  write('dist/main/index.js', '');
  write('dist/more', '');
  ends(1, /not as committed:\nM dist\/main\/index.js\n\?\? dist\/more/, 'pack', '1.0.0', packed);
  git('checkout', '--quiet', 'dist');
  rmSync(join(clone, 'dist/more'));
  expect(() => readFileSync(packed)).toThrow('ENOENT');
});

test('release.js tags a version only once and moves the tag v1 only forward', () => {
  ends(1, 'v1.0.0 does not exist yet', 'move-major', '1.0.0');
  ends(0, first, 'create-tag', '1.0.0');
  expect(tags()).toEqual({ 'refs/tags/v1.0.0': first });
  ends(0, 'already', 'create-tag', '1.0.0');
  ends(0, 'nowhere', 'move-major', '1.0.0');

  const second = merge('1.1.0');
  ends(0, second, 'create-tag', '1.1.0');
  ends(0, `before at ${first}`, 'move-major', '1.1.0');
  git('checkout', '--quiet', first);
  ends(1, 'v1 is at', 'move-major', '1.0.0');
  git('checkout', '--quiet', second);
  expect(tags()).toEqual({ 'refs/tags/v1.0.0': first, 'refs/tags/v1.1.0': second, 'refs/tags/v1': second });
});

test.for<[what: string, version: string, reason: RegExp, prepare?: (version: string) => unknown]>([
  ['that the changelog lacks', '1.2.0', /no dated entry of 1.2.0/],
  ['without a date in the changelog', '0.9.0', /no dated entry of 0.9.0/],
  ['of a commit that is not on main', '1.1.0', /[0-9a-f]{40} is not on main/],
  ['whose tag is at another commit', '1.1.0', /v1.1.0 exists already, at [0-9a-f]{40}/, merge],
])('release.js rejects a version %s and changes no tag', ([, version, reason, prepare = commit]) => {
  const before = tags();
  prepare(version);
  ends(1, reason, 'create-tag', version);
  expect(tags()).toEqual(before);
});
