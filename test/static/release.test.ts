import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { parse } from 'yaml';
import { runNode } from './run-node.js';

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

const template = mkdtempSync(join(tmpdir(), 'release-test-'));
afterAll(() => rmSync(template, { recursive: true }));

beforeAll(() => {
  const { clone, git, commit, setVersion, pushMain } = at(template);
  for (const path of project) cpSync(path, join(clone, path), { recursive: true });
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog);
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(template, 'remote')]);
  git('init', '--quiet', '--initial-branch=main');
  git('remote', 'add', 'origin', '../remote');
  setVersion('1.0.0');
  commit();
  pushMain();
});

/** A clone of a remote; main has the project as 1.0.0. */
function setUp({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'release-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(template, folder, { recursive: true });
  return at(folder);
}

type Scene = ReturnType<typeof at>;

function at(folder: string) {
  const clone = join(folder, 'clone');
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: clone, encoding: 'utf8', stdio: 'pipe' }).trim();
  const commit = () => {
    git('add', '--all');
    git('-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com', 'commit', '--quiet', '--message=Work');
  };
  const pushMain = () => git('push', '--quiet', 'origin', 'HEAD:main');
  const setVersion = (version: string, lockVersion = version) => {
    const path = join(clone, 'package-lock.json');
    const lock = JSON.parse(readFileSync(path, 'utf8'));
    lock.version = lockVersion;
    lock.packages[''].version = lockVersion;
    writeFileSync(path, JSON.stringify(lock, null, 2));
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
  };
  const release = (...words: string[]) => runNode([resolve('scripts/release.js'), ...words], { cwd: clone });
  const atRemote = (tag: string) => git('ls-remote', 'origin', `refs/tags/${tag}`).split('\t')[0];
  return { folder, clone, git, commit, pushMain, setVersion, release, atRemote };
}

test.concurrent('a release is packed with its notes, its archive, its bill of materials and the checksums of what a runner reads', async (context) => {
  const { folder, clone, release } = setUp(context);
  const packed = join(folder, 'packed');
  expect(await release('pack', '1.0.0', packed)).toMatchObject({ status: 0 });

  const notes = readFileSync(join(packed, 'notes.md'), 'utf8');
  expect(notes).toMatch(/^### Added\n\n- The first.\n\n### Checksums\n/);
  const [, list = ''] = /```text\n(.*?)```/s.exec(notes) ?? [];
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: clone, input: list });
  const files = execFileSync('git', ['ls-files', 'action.yml', 'dist', 'node24'], { encoding: 'utf8' });
  expect(list.replaceAll(/^.{66}/gm, '')).toBe(files);

  const checksums = readFileSync(join(packed, 'checksums.txt'), 'utf8');
  expect(checksums).toContain(list);
  const assets = checksums.replace(list, '');
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: join(packed, 'assets'), input: assets });
  expect(assets.replaceAll(/^.{66}/gm, '')).toBe('ctl-action-1.0.0.tar.gz\nsbom.cdx.json\n');
  expect(readdirSync(join(packed, 'assets')).sort()).toEqual(['ctl-action-1.0.0.tar.gz', 'sbom.cdx.json']);
  execFileSync('tar', ['-xzf', join(packed, 'assets/ctl-action-1.0.0.tar.gz'), '-C', folder]);
  for (const path of files.trimEnd().split('\n'))
    expect(readFileSync(join(folder, 'ctl-action-1.0.0', path))).toEqual(readFileSync(path));

  const bill = JSON.parse(readFileSync(join(packed, 'assets/sbom.cdx.json'), 'utf8'));
  expect(bill.metadata.component).toMatchObject({ name: 'ctl-action', version: '1.0.0' });
  const purls = bill.components.map(({ purl = '' }) => purl);
  expect(purls).toContain('pkg:npm/%40actions/core@3.0.1');
  expect(purls.filter((purl: string) => purl.includes('vitest'))).toEqual([]);
  // The stand-ins of vendor are not listed, under no name. @actions/github loads the real undici.
  expect(JSON.stringify(bill)).not.toMatch(/ctl-action-no-|actions\/exec|@0\.0\.0/);
  expect(purls.filter((purl: string) => purl.includes('undici'))).toEqual([expect.stringMatching(/undici@6\./)]);
});

test.concurrent('the tag of a release is created once, at the commit of main that was verified', async (context) => {
  const { git, release, atRemote } = setUp(context);
  expect(await release('create-tag', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1.0.0')).toBe(git('rev-parse', 'HEAD'));
  expect(await release('create-tag', '1.0.0')).toMatchObject({ status: 0, said: expect.stringContaining('already') });
});

test.concurrent('v1 is made, goes forward with a release, and stays where it is', async (context) => {
  const { git, commit, pushMain, setVersion, release, atRemote } = setUp(context);
  const first = git('rev-parse', 'HEAD');
  expect(await release('move-major', '1.0.0')).toEqual({
    status: 1,
    said: expect.stringContaining('v1.0.0 does not exist yet'),
  });
  expect(await release('create-tag', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1')).toBe('');
  expect(await release('move-major', '1.0.0')).toMatchObject({ status: 0 });
  expect(atRemote('v1')).toBe(first);

  setVersion('1.1.0');
  commit();
  pushMain();
  const second = git('rev-parse', 'HEAD');
  expect(await release('create-tag', '1.1.0')).toMatchObject({ status: 0 });
  expect(await release('move-major', '1.1.0')).toMatchObject({
    status: 0,
    said: expect.stringContaining(`before at ${first}`),
  });
  expect(atRemote('v1')).toBe(second);
  expect(await release('move-major', '1.1.0')).toMatchObject({ status: 0, said: expect.stringContaining('already') });

  git('checkout', '--quiet', first);
  expect(await release('move-major', '1.0.0')).toMatchObject({ status: 1, said: expect.stringContaining('v1 is at') });
  expect(atRemote('v1')).toBe(second);
});

const set =
  (version: string, lockVersion?: string) =>
  ({ setVersion }: Scene) =>
    setVersion(version, lockVersion);
const write =
  (path: string) =>
  ({ clone }: Scene) =>
    writeFileSync(join(clone, path), 'more');

test.concurrent.for<[string, string, RegExp, ((scene: Scene) => void)?]>([
  ['a version that is incomplete', '1.0', /“1.0” is no version of a release/],
  ['a tag in place of a version', 'v1.0.0', /“v1.0.0” is no version of a release/],
  ['an option in place of a version', '--all', /is no version of a release/],
  ['a version that is not that of the project', '1.1.0', /package.json says 1.0.0, not 1.1.0/],
  ['a lock file of another version', '1.1.0', /package-lock.json says 1.0.0/, set('1.1.0', '1.0.0')],
  ['a version that the changelog lacks', '1.2.0', /CHANGELOG.md has no dated entry of/, set('1.2.0')],
  ['a version that the changelog does not date', '0.9.0', /CHANGELOG.md has no dated entry of/, set('0.9.0')],
  ['a changed dist', '1.0.0', /not as committed:\n.*dist\/main\/index.js/, write('dist/main/index.js')],
  ['a file in dist that nobody committed', '1.0.0', /not as committed:\n.*dist\/main\/more/, write('dist/main/more')],
  [
    'a commit that is not on main',
    '1.0.0',
    /[0-9a-f]{40} is not on main/,
    ({ commit, ...scene }) => {
      write('README.md')({ commit, ...scene });
      commit();
    },
  ],
])('%s is refused', async ([, version, reason, prepare], context) => {
  const scene = prepare === undefined ? at(template) : setUp(context);
  prepare?.(scene);
  expect(await scene.release('verify', version)).toEqual({ status: 1, said: expect.stringMatching(reason) });
});

test.concurrent('each command verifies first: a version whose tag is at another commit is refused, and nothing is packed or moved', async (context) => {
  const scene = setUp(context);
  const { folder, git, commit, pushMain, release } = scene;
  git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.0.0');
  write('README.md')(scene);
  commit();
  pushMain();
  const tags = git('ls-remote', '--tags', 'origin');

  for (const [command = '', ...more] of [['verify'], ['pack', join(folder, 'packed')], ['create-tag'], ['move-major']])
    expect(await release(command, '1.0.0', ...more)).toEqual({
      status: 1,
      said: expect.stringMatching(/v1.0.0 exists already, at [0-9a-f]{40}/),
    });

  expect(readdirSync(folder)).not.toContain('packed');
  expect(git('ls-remote', '--tags', 'origin')).toBe(tags);
});

const versionTags = '.github/rulesets/version-tags.json';

test.concurrent('a release whose entry has no date yet can be rehearsed', async (context) => {
  const scene = setUp(context);
  const { clone, commit, release, git } = scene;
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog.replace('[1.0.0] - 2026-01-02', '[1.0.0]'));
  setApp(scene, 12345);
  commit();

  const { status, said } = await release('rehearse');

  expect(said).toContain('- The first.');
  expect(said).not.toContain('Before the first release');
  expect(status).toBe(0);
  expect(git('status', '--porcelain')).toBe('');
});

test.concurrent('a rehearsal runs our steps in the jobs and the order of the workflow, and says what is not set up yet', async (context) => {
  const scene = setUp(context);
  setApp(scene, 0);
  scene.commit();

  const { said } = await scene.release('rehearse');

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
