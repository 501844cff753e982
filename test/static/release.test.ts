import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

const project = [
  'package.json',
  'package-lock.json',
  '.github/rulesets',
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
  const pushMain = () => {
    git('push', '--quiet', '--force', 'origin', 'HEAD:main');
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
  const atRemote = (tag: string) => git('ls-remote', 'origin', `refs/tags/${tag}`).split('\t')[0];

  setVersion('1.0.0');
  commit();
  const first = pushMain();
  return { folder, clone, git, commit, pushMain, setVersion, release, atRemote, first };
}

test('a release is packed with its notes, its archive, its bill of materials and the checksums of what a runner reads', () => {
  const { folder, clone, release } = setUp();
  const packed = join(folder, 'packed');
  expect(release('pack', '1.0.0', packed)).toMatchObject({ status: 0 });

  const notes = readFileSync(join(packed, 'notes.md'), 'utf8');
  expect(notes).toMatch(/^### Added\n\n- The first.\n\n### Checksums\n/);
  const [, list = ''] = /```text\n(.*?)```/s.exec(notes) ?? [];
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: clone, input: list });
  const listed = list
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(66));
  const read = ['action.yml', 'dist', 'node24'];
  expect(listed).toEqual(
    execFileSync('git', ['ls-files', ...read], { encoding: 'utf8' })
      .trimEnd()
      .split('\n'),
  );

  const checksums = readFileSync(join(packed, 'checksums.txt'), 'utf8');
  expect(checksums).toContain(list);
  const assets = checksums.replace(list, '');
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: join(packed, 'assets'), input: assets });
  expect(assets.match(/ctl-action-1\.0\.0\.tar\.gz$|sbom\.cdx\.json$/gm)).toHaveLength(2);

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
  const purls = bill.components.map(({ purl = '' }) => purl);
  expect(purls).toContain('pkg:npm/%40actions/core@3.0.1');
  expect(purls.filter((purl: string) => purl.includes('vitest'))).toEqual([]);
  // The stand-ins of vendor are not listed, under no name. @actions/github loads the real undici.
  expect(JSON.stringify(bill)).not.toMatch(/ctl-action-no-|actions\/exec|@0\.0\.0/);
  expect(purls.filter((purl: string) => purl.includes('undici'))).toEqual([expect.stringMatching(/undici@6\./)]);
});

test('the tag of a release is created once, at the commit of main that was verified', () => {
  const { release, atRemote, first } = setUp();
  expect(release('create-tag', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1.0.0')).toBe(first);
  expect(release('create-tag', '1.0.0')).toMatchObject({ status: 0, said: expect.stringContaining('already') });
});

test('v1 is made, goes forward with a release, and stays where it is', () => {
  const { git, commit, pushMain, setVersion, release, atRemote, first } = setUp();
  expect(release('move-major', '1.0.0')).toEqual({
    status: 1,
    said: expect.stringContaining('v1.0.0 does not exist yet'),
  });
  expect(release('create-tag', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1')).toBe('');
  expect(release('move-major', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1')).toBe(first);

  setVersion('1.1.0');
  commit();
  const second = pushMain();
  expect(release('create-tag', '1.1.0')).toMatchObject({ status: 0 });
  expect(release('move-major', '1.1.0')).toMatchObject({
    status: 0,
    said: expect.stringContaining(`before at ${first}`),
  });
  expect(atRemote('v1')).toBe(second);
  expect(release('move-major', '1.1.0')).toMatchObject({ status: 0, said: expect.stringContaining('already') });

  git('checkout', '--quiet', first);
  expect(release('move-major', '1.0.0')).toMatchObject({ status: 1, said: expect.stringContaining('v1 is at') });
  expect(atRemote('v1')).toBe(second);
});

type Scene = ReturnType<typeof setUp>;

const versionTags = '.github/rulesets/version-tags.json';

test.for<[string, (scene: Scene) => string, RegExp]>([
  ['a version that is incomplete', () => '1.0', /“1.0” is no version of a release/],
  ['a tag in place of a version', () => 'v1.0.0', /“v1.0.0” is no version of a release/],
  ['an option in place of a version', () => '--all', /is no version of a release/],
  ['a version that is not that of the project', () => '1.1.0', /package.json says 1.0.0, not 1.1.0/],
  [
    'a lock file of another version',
    ({ setVersion, commit, pushMain }) => {
      setVersion('1.1.0', '1.0.0');
      commit();
      pushMain();
      return '1.1.0';
    },
    /package-lock.json says 1.0.0/,
  ],
  ...['1.2.0', '0.9.0'].map((version): [string, (scene: Scene) => string, RegExp] => [
    `a version that the changelog does not date (${version})`,
    ({ setVersion, commit, pushMain }) => {
      setVersion(version);
      commit();
      pushMain();
      return version;
    },
    /CHANGELOG.md has no dated entry of/,
  ]),
  [
    'a dist that is not the committed one',
    ({ clone }) => {
      appendFileSync(join(clone, 'dist/main/index.js'), '// more');
      return '1.0.0';
    },
    /not as committed:\n.*dist\/main\/index.js/,
  ],
  [
    'a file in dist that nobody committed',
    ({ clone }) => {
      writeFileSync(join(clone, 'dist/main/more.js'), '');
      return '1.0.0';
    },
    /not as committed:\n.*dist\/main\/more.js/,
  ],
  [
    'a commit that is not on main',
    ({ clone, commit }) => {
      writeFileSync(join(clone, 'README.md'), 'Another branch.');
      commit();
      return '1.0.0';
    },
    /[0-9a-f]{40} is not on main/,
  ],
])('%s is refused, and nothing is packed, tagged or moved', ([, prepare, reason]) => {
  const scene = setUp();
  const version = prepare(scene);
  expectRefusal(scene, version, reason);
  expect(scene.git('ls-remote', '--tags', 'origin')).toBe('');
});

test('a version whose tag is at another commit is refused, and no tag moves', () => {
  const scene = setUp();
  scene.git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.0.0');
  writeFileSync(join(scene.clone, 'README.md'), 'A later commit.');
  scene.commit();
  scene.pushMain();
  expectRefusal(scene, '1.0.0', /v1.0.0 exists already, at [0-9a-f]{40}/);
  expect(scene.atRemote('v1.0.0')).toBe(scene.first);
  expect(scene.atRemote('v1')).toBe('');
});

function expectRefusal({ folder, release }: Scene, version: string, reason: RegExp): void {
  for (const words of [
    ['verify', version],
    ['pack', version, join(folder, 'packed')],
    ['create-tag', version],
    ['move-major', version],
  ]) {
    expect(release(...words)).toEqual({ status: 1, said: expect.stringMatching(reason) });
  }
  expect(readdirSync(folder)).not.toContain('packed');
}

test('a release whose entry has no date yet can be rehearsed', () => {
  const scene = setUp();
  const { clone, commit, release, git } = scene;
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog.replace('[1.0.0] - 2026-01-02', '[1.0.0]'));
  setApp(scene, 12345);
  commit();

  const { status, said } = release('rehearse');

  expect(said).toContain('- The first.');
  expect(said).not.toContain('Before the first release');
  expect(status).toBe(0);
  expect(git('status', '--porcelain')).toBe('');
});

test('a rehearsal runs our steps in the jobs and the order of the workflow, and says what is not set up yet', () => {
  const scene = setUp();
  setApp(scene, 0);
  scene.commit();

  const { said } = scene.release('rehearse');

  const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
  const inWorkflow = Object.entries<{ steps: { run?: string }[] }>(jobs).flatMap(([job, { steps }]) =>
    steps.flatMap(({ run = '' }) =>
      [...run.matchAll(/(?:npm run release --|node scripts\/release.js) ([\w-]+)/g)].map(
        ([, step]) => `${job}: ${step}`,
      ),
    ),
  );
  expect(inWorkflow).toHaveLength(4);
  expect(said.match(/^\w+: (verify|pack|create-tag|move-major)$/gm)).toEqual(inWorkflow);
  expect(said).toMatch(/attests .* approval .* verifies .* publishes .* compares its assets/s);
  expect(said).toContain(`Before the first release: ${versionTags} still has 0 in place of the App ID`);
});

function setApp({ clone }: Scene, id: number): void {
  const ruleset = JSON.parse(readFileSync(versionTags, 'utf8'));
  ruleset.bypass_actors[0].actor_id = id;
  writeFileSync(join(clone, versionTags), JSON.stringify(ruleset));
}
