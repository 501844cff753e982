import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, type TestContext, test } from 'vitest';

const files = {
  'CHANGELOG.md': [
    ...['# Changelog', '## [1.1.0] - 2026-02-03', '- The second.', '## [1.0.0] - 2026-01-02', '### Added'],
    ...['- The first.', '## [0.9.0]', '- Too early.', '[1.0.0]: https://example.com/\n'],
  ].join('\n\n'),
  'action.yml': 'runs',
  'dist/main/index.js': 'main',
  'node24/action.yml': 'runs',
};

/** A clone of a remote, whose main has the version 1.0.0. */
function setUp({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'release-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clone = join(folder, 'clone');
  const inClone = { cwd: clone, encoding: 'utf8', stdio: 'pipe' } as const;
  const git = (...words: string[]) => execFileSync('git', words, inClone).trim();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  };
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message=Work');
  };
  const merge = (version: string) => {
    write('package.json', JSON.stringify({ version }));
    commit();
    git('push', '--quiet', 'origin', 'HEAD:main');
    return git('rev-parse', 'HEAD');
  };
  const ends = (status: number, text: string | RegExp, ...words: string[]) => {
    const node = spawnSync(process.execPath, [resolve('scripts/release.js'), ...words], inClone);
    expect(node.stdout + node.stderr).toMatch(text);
    expect(node.status).toBe(status);
  };
  const atRemote = (tag: string) =>
    git('-C', '../remote', 'for-each-ref', '--format=%(objectname)', `refs/tags/${tag}`);

  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'remote')]);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone]);
  git('remote', 'add', 'origin', '../remote');
  git('config', 'user.name', 'Somebody');
  git('config', 'user.email', 'somebody@example.com');
  for (const [path, text] of Object.entries(files)) write(path, text);
  const first = merge('1.0.0');
  return { folder, clone, first, git, write, commit, merge, ends, atRemote };
}

type Scene = ReturnType<typeof setUp>;

test('release.js pack writes the notes, the archive of a job, and checksums of all files that a runner reads', (context) => {
  const { folder, clone, ends } = setUp(context);
  const packed = join(folder, 'packed');
  ends(0, /^Packed/m, 'pack', '1.0.0', packed);

  expect(readFileSync(join(packed, 'notes.md'), 'utf8')).toBe('### Added\n\n- The first.\n');
  cpSync(join(packed, 'assets'), clone, { recursive: true });
  const checks = ['--check', '--strict', join(packed, 'checksums.txt')];
  const checked = execFileSync('sha256sum', checks, { cwd: clone, encoding: 'utf8' }).match(/^\S+(?=: OK$)/gm);
  expect(checked).toEqual(['ctl-action-1.0.0.tar.gz', 'action.yml', 'dist/main/index.js', 'node24/action.yml']);
});

test('release.js tags a release once and moves v1 only forward, also beside branches named like these tags', (context) => {
  const { first, git, merge, ends, atRemote } = setUp(context);
  ends(1, 'v1.0.0 does not exist yet', 'move-major', '1.0.0');
  ends(0, first, 'create-tag', '1.0.0');
  expect([atRemote('v1.0.0'), atRemote('v1')]).toEqual([first, '']);
  ends(0, 'already', 'create-tag', '1.0.0');
  ends(0, 'nowhere', 'move-major', '1.0.0');
  expect(atRemote('v1')).toBe(first);

  git('push', '--quiet', 'origin', `${first}:refs/heads/x/refs/tags/v1.1.0`);
  const second = merge('1.1.0');
  git('push', '--quiet', 'origin', `${second}:refs/heads/x/refs/tags/v1`);
  ends(0, second, 'create-tag', '1.1.0');
  ends(0, `before at ${first}`, 'move-major', '1.1.0');
  expect([atRemote('v1.1.0'), atRemote('v1')]).toEqual([second, second]);

  git('checkout', '--quiet', first);
  ends(1, 'v1 is at', 'move-major', '1.0.0');
  expect(atRemote('v1')).toBe(second);
});

test('release.js fails if the push leaves the tag at another commit', (context) => {
  const { folder, first, merge, ends } = setUp(context);
  const second = merge('1.1.0');
  const hook = `#!/bin/sh\nread -r _ _ ref && git update-ref "$ref" ${first}\n`;
  writeFileSync(join(folder, 'remote/hooks/post-receive'), hook, { mode: 0o755 });
  ends(1, `v1.1.0 is at ${first} after the push, not at ${second}`, 'create-tag', '1.1.0');
});

test.for<[claim: string, version: string, reason: RegExp, prepare?: (scene: Scene) => void]>([
  ['a tag in place of a version', 'v1.0.0', /“v1.0.0” is no version of a release/],
  ['a version other than that of package.json', '1.1.0', /package.json says 1.0.0, not 1.1.0/],
  ['a version that the changelog lacks', '1.2.0', /no dated entry of 1.2.0/, ({ merge }) => merge('1.2.0')],
  ['a changelog without a date', '0.9.0', /no dated entry of 0.9.0/, ({ merge }) => merge('0.9.0')],
  ['a changed dist', '1.0.0', /not as committed:\nM dist\/main\/index/, ({ write }) => write('dist/main/index.js', '')],
  ['an uncommitted file', '1.0.0', /not as committed:\n\?\? dist/, ({ write }) => write('dist/more', '')],
  ['a commit that is not on main', '1.0.0', /[0-9a-f]{40} is not on main/, ({ commit }) => commit()],
  ['a version whose tag is at another commit', '1.0.0', /v1.0.0 exists already, at [0-9a-f]{40}/, tagAnother],
])('each command of release.js rejects %s, and changes nothing', ([, version, reason, prepare], context) => {
  const scene = setUp(context);
  prepare?.(scene);
  const tags = scene.git('ls-remote', '--tags', 'origin');
  for (const command of ['verify', 'pack', 'create-tag', 'move-major'])
    scene.ends(1, reason, command, version, 'packed');
  expect(scene.git('ls-remote', '--tags', 'origin')).toBe(tags);
  expect(readdirSync(scene.clone)).not.toContain('packed');
});

function tagAnother({ git, merge }: Scene) {
  git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.0.0');
  merge('1.0.0');
}
