import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const project = [
  'package.json',
  'package-lock.json',
  'action.yml',
  'node24',
  'dist',
  'vendor',
  'README.md',
  'SECURITY.md',
  'LICENSE',
];

const changelog = `# Changelog

## [Unreleased]

- Not yet.

## [1.1.0] - 2026-02-03

- The second.

## [1.0.0] - 2026-01-02

### Added

- The first.

## [0.9.0] - soon

- Too early.

[1.0.0]: https://example.com/
`;

/** A clone of a remote; main has the project as 1.0.0, and its tag. */
function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'release-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clone = join(folder, 'clone');
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: clone, encoding: 'utf8', stdio: 'pipe' }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(folder, 'remote')]);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone]);
  git('remote', 'add', 'origin', join(folder, 'remote'));
  for (const path of project) cpSync(path, join(clone, path), { recursive: true });
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog);

  const commit = () => {
    git('add', '--all');
    git('-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com', 'commit', '--quiet', '--message=Work');
  };
  const tagOnMain = (tag: string) => {
    git('tag', '--force', tag);
    git('push', '--quiet', '--force', 'origin', 'HEAD:main', tag);
    return git('rev-parse', 'HEAD');
  };
  const setVersion = (version: string, lockVersion = version) => {
    const path = join(clone, 'package-lock.json');
    const lock = JSON.parse(readFileSync(path, 'utf8'));
    lock.version = lockVersion;
    lock.packages[''].version = lockVersion;
    writeFileSync(path, JSON.stringify(lock, null, 2));
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
  };
  const release = (...words: string[]) => {
    const script = resolve('scripts/release.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], {
      cwd: clone,
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };
  const majorAtRemote = () => git('ls-remote', 'origin', 'refs/tags/v1').split('\t')[0];

  setVersion('1.0.0');
  commit();
  const first = tagOnMain('v1.0.0');
  return { folder, clone, git, commit, tagOnMain, setVersion, release, majorAtRemote, first };
}

test('a release is packed with its notes, its archive and its bill of materials', () => {
  const { folder, release } = setUp();
  const packed = join(folder, 'packed');
  expect(release('pack', 'v1.0.0', packed)).toMatchObject({ status: 0 });
  expect(readFileSync(join(packed, 'notes.md'), 'utf8')).toBe('### Added\n\n- The first.\n');

  expect(readdirSync(join(packed, 'assets')).sort()).toEqual(['ctl-action-1.0.0.tar.gz', 'sbom.cdx.json']);
  execFileSync('tar', ['-xzf', join(packed, 'assets/ctl-action-1.0.0.tar.gz'), '-C', folder]);
  for (const path of [
    'action.yml',
    'node24/action.yml',
    'dist/main/index.js',
    'dist/post/revoke-in-post.licenses.txt',
  ]) {
    expect(readFileSync(join(folder, 'ctl-action-1.0.0', path))).toEqual(readFileSync(path));
  }

  const bill = JSON.parse(readFileSync(join(packed, 'assets/sbom.cdx.json'), 'utf8'));
  expect(bill.metadata.component).toMatchObject({ name: 'ctl-action', version: '1.0.0' });
  const listed = bill.components.map(({ purl = '' }) => purl);
  expect(listed).toContain('pkg:npm/%40actions/core@3.0.1');
  // A package of tests, and what stands in for a package.
  expect(listed.filter((purl: string) => /vitest|@0\.0\.0/.test(purl))).toEqual([]);
});

test('v1 is made, goes forward with a release, and stays where it is', () => {
  const { git, commit, tagOnMain, setVersion, release, majorAtRemote, first } = setUp();
  expect(majorAtRemote()).toBe('');
  expect(release('move-major', 'v1.0.0')).toMatchObject({ status: 0 });
  expect(majorAtRemote()).toBe(first);

  setVersion('1.1.0');
  commit();
  const second = tagOnMain('v1.1.0');
  expect(release('move-major', 'v1.1.0')).toMatchObject({
    status: 0,
    said: expect.stringContaining(`before at ${first}`),
  });
  expect(majorAtRemote()).toBe(second);
  expect(release('move-major', 'v1.1.0')).toMatchObject({ status: 0, said: expect.stringContaining('already') });

  git('checkout', '--quiet', 'v1.0.0');
  expect(release('move-major', 'v1.0.0')).toMatchObject({ status: 1, said: expect.stringContaining('v1 is at') });
  expect(majorAtRemote()).toBe(second);
});

type Scene = ReturnType<typeof setUp>;

test.for<[string, (scene: Scene) => string, RegExp]>([
  ['a tag that is no version', () => 'v1.0', /“v1.0” is no tag of a release/],
  ['an option in place of a tag', () => '--all', /is no tag of a release/],
  [
    'a tag of another version',
    ({ tagOnMain }) => {
      tagOnMain('v1.1.0');
      return 'v1.1.0';
    },
    /package.json says 1.0.0, the tag 1.1.0/,
  ],
  [
    'a lock file of another version',
    ({ setVersion, commit, tagOnMain }) => {
      setVersion('1.1.0', '1.0.0');
      commit();
      tagOnMain('v1.1.0');
      return 'v1.1.0';
    },
    /package-lock.json says 1.0.0/,
  ],
  ...['1.2.0', '0.9.0'].map((version): [string, (scene: Scene) => string, RegExp] => [
    `a version that the changelog does not date (${version})`,
    ({ setVersion, commit, tagOnMain }) => {
      setVersion(version);
      commit();
      tagOnMain(`v${version}`);
      return `v${version}`;
    },
    /CHANGELOG.md has no dated entry of/,
  ]),
  [
    'a dist that is not the committed one',
    ({ clone }) => {
      appendFileSync(join(clone, 'dist/main/index.js'), '// more');
      return 'v1.0.0';
    },
    /not as committed:\n.*dist\/main\/index.js/,
  ],
  [
    'a file in dist that nobody committed',
    ({ clone }) => {
      writeFileSync(join(clone, 'dist/main/more.js'), '');
      return 'v1.0.0';
    },
    /not as committed:\n.*dist\/main\/more.js/,
  ],
  [
    'a tag that is not on main',
    ({ clone, git, commit }) => {
      git('push', '--quiet', 'origin', 'HEAD:main');
      writeFileSync(join(clone, 'README.md'), 'Another branch.');
      commit();
      git('tag', '--force', 'v1.0.0');
      return 'v1.0.0';
    },
    /v1.0.0 is not on main/,
  ],
  [
    'a commit that is not the tag',
    ({ clone, git, commit }) => {
      writeFileSync(join(clone, 'README.md'), 'A later commit.');
      commit();
      git('push', '--quiet', 'origin', 'HEAD:main');
      return 'v1.0.0';
    },
    /v1.0.0 is not what is checked out/,
  ],
])('%s is refused, and nothing is packed or moved', ([, prepare, reason]) => {
  const scene = setUp();
  const tag = prepare(scene);
  const packed = join(scene.folder, 'packed');
  for (const words of [
    ['verify', tag],
    ['pack', tag, packed],
    ['move-major', tag],
  ]) {
    expect(scene.release(...words)).toEqual({ status: 1, said: expect.stringMatching(reason) });
  }
  expect(readdirSync(scene.folder)).not.toContain('packed');
  expect(scene.majorAtRemote()).toBe('');
});

test('a release whose entry has no date yet can be rehearsed', () => {
  const { clone, commit, release, git } = setUp();
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog.replace('[1.0.0] - 2026-01-02', '[1.0.0]'));
  commit();

  const { status, said } = release('rehearse');

  expect(said).toContain('- The first.');
  expect(status).toBe(0);
  expect(git('status', '--porcelain')).toBe('');
});
