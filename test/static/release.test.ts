import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { parse } from 'yaml';
import { runNode } from './run-node.js';

const filesOfRunner = ['action.yml', 'dist', 'node24'];
const otherFiles = ['package-lock.json', '.github/rulesets', 'vendor', 'README.md', 'SECURITY.md', 'LICENSE'];

const changelog = [
  ...['# Changelog', '## [1.1.0] - 2026-02-03', '- The second.', '## [1.0.0] - 2026-01-02', '### Added'],
  ...['- The first.', '## [0.9.0] - soon', '- Too early.', '[1.0.0]: https://example.com/\n'],
].join('\n\n');
const script = resolve('scripts/release.js');
const versionTags = '.github/rulesets/version-tags.json';
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const template = mkdtempSync(join(tmpdir(), 'release-test-'));
afterAll(() => rmSync(template, { recursive: true }));

beforeAll(() => {
  const { clone, git, write, merge, setVersion } = at(template);
  for (const path of [...filesOfRunner, ...otherFiles]) cpSync(path, join(clone, path), { recursive: true });
  write('CHANGELOG.md', changelog);
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(template, 'remote')]);
  git('init', '--quiet', '--initial-branch=main');
  git('remote', 'add', 'origin', '../remote');
  setVersion('1.0.0');
  merge();
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
  const write = (path: string, text: string) => writeFileSync(join(clone, path), text);
  const commit = () => {
    const author = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.com'];
    git('add', '--all');
    git(...author, 'commit', '--quiet', '--allow-empty', '--message=Work');
  };
  const merge = () => {
    commit();
    git('push', '--quiet', 'origin', 'HEAD:main');
  };
  const setVersion = (version: string, lockVersion = version) => {
    const lock = readJson('package-lock.json');
    lock.version = lockVersion;
    lock.packages[''].version = lockVersion;
    write('package-lock.json', JSON.stringify(lock));
    write('package.json', JSON.stringify({ ...readJson('package.json'), version }));
  };
  const release = (...words: string[]) => runNode([script, ...words], { cwd: clone });
  const atRemote = (tag: string) =>
    git('-C', '../remote', 'for-each-ref', '--format=%(objectname)', `refs/tags/${tag}`);
  return { folder, clone, git, write, commit, merge, setVersion, release, atRemote };
}

test.concurrent('release.js pack writes the same notes, archive, bill of materials and checksums in each of two folders', async (context) => {
  const { folder, clone, release } = setUp(context);
  const [packed, elsewhere, again] = [join(folder, 'packed'), join(folder, 'elsewhere'), join(folder, 'again')];
  cpSync(clone, elsewhere, { recursive: true });
  expect(await release('pack', '1.0.0', packed)).toMatchObject({ status: 0 });
  const options = { cwd: elsewhere, env: { ...process.env, TZ: 'Asia/Tokyo' } };
  expect(await runNode([script, 'pack', '1.0.0', again], options)).toMatchObject({ status: 0 });
  execFileSync('diff', ['--recursive', packed, again]);

  const notes = readFileSync(join(packed, 'notes.md'), 'utf8');
  expect(notes).toMatch(/^### Added\n\n- The first.\n\n### Checksums\n/);
  const [, list = ''] = /```text\n(.*?)```/s.exec(notes) ?? [];
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: clone, input: list });
  const files = execFileSync('git', ['ls-files', ...filesOfRunner], { encoding: 'utf8' });
  expect(list.replaceAll(/^.{66}/gm, '')).toBe(files);

  const checksums = readFileSync(join(packed, 'checksums.txt'), 'utf8');
  expect(checksums).toContain(list);
  const assets = checksums.replace(list, '');
  execFileSync('sha256sum', ['--check', '--strict'], { cwd: join(packed, 'assets'), input: assets });
  expect(assets.replaceAll(/^.{66}/gm, '')).toBe('ctl-action-1.0.0.tar.gz\nsbom.cdx.json\n');
  expect(readdirSync(join(packed, 'assets')).sort()).toEqual(['ctl-action-1.0.0.tar.gz', 'sbom.cdx.json']);
  execFileSync('tar', ['-xzf', join(packed, 'assets/ctl-action-1.0.0.tar.gz'), '-C', folder]);
  for (const path of filesOfRunner) execFileSync('diff', ['--recursive', join(folder, 'ctl-action-1.0.0', path), path]);

  const bill = readJson(join(packed, 'assets/sbom.cdx.json'));
  // actions/attest takes it for a bill of CycloneDX only with these.
  const serialNumber = expect.stringMatching(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber });
  expect(bill.metadata.component).toMatchObject({ name: 'ctl-action', version: '1.0.0' });
  const purls = bill.components.map(({ purl = '' }) => purl);
  expect(purls).toContain('pkg:npm/%40actions/core@3.0.1');
  expect(purls.filter((purl: string) => purl.includes('vitest'))).toEqual([]);
  // The stand-ins of vendor are not listed, under no name. @actions/github loads the real undici.
  expect(JSON.stringify(bill)).not.toMatch(/ctl-action-no-|actions\/exec|@0\.0\.0/);
  expect(purls.filter((purl: string) => purl.includes('undici'))).toEqual([expect.stringMatching(/undici@6\./)]);
});

test.concurrent('release.js tags a release once and moves v1 only forward, also beside branches named like these tags', async (context) => {
  const { git, merge, setVersion, release, atRemote } = setUp(context);
  const ends = async (status: number, command: string, version: string, text = '') =>
    expect(await release(command, version)).toEqual({ status, said: expect.stringContaining(text) });

  const first = git('rev-parse', 'HEAD');
  await ends(1, 'move-major', '1.0.0', 'v1.0.0 does not exist yet');
  await ends(0, 'create-tag', '1.0.0');
  expect([atRemote('v1.0.0'), atRemote('v1')]).toEqual([first, '']);
  await ends(0, 'create-tag', '1.0.0', 'already');
  await ends(0, 'move-major', '1.0.0');
  expect(atRemote('v1')).toBe(first);

  git('push', '--quiet', 'origin', `${first}:refs/heads/x/refs/tags/v1.1.0`);
  setVersion('1.1.0');
  merge();
  const second = git('rev-parse', 'HEAD');
  git('push', '--quiet', 'origin', `${second}:refs/heads/x/refs/tags/v1`);
  await ends(0, 'create-tag', '1.1.0', second);
  await ends(0, 'move-major', '1.1.0', `before at ${first}`);
  expect([atRemote('v1.1.0'), atRemote('v1')]).toEqual([second, second]);
  await ends(0, 'move-major', '1.1.0', 'already');

  git('checkout', '--quiet', first);
  await ends(1, 'move-major', '1.0.0', 'v1 is at');
  expect(atRemote('v1')).toBe(second);
});

test.concurrent.for(['create-tag', 'move-major'])(
  'release.js %s fails if the push leaves the tag at another commit',
  async (command, context) => {
    const { folder, git, merge, setVersion, release } = setUp(context);
    const first = git('rev-parse', 'HEAD');
    setVersion('1.1.0');
    merge();
    if (command === 'move-major') await release('create-tag', '1.1.0');
    const hook = `#!/bin/sh\nread -r _ _ ref && git update-ref "$ref" ${first}\n`;
    writeFileSync(join(folder, 'remote/hooks/post-receive'), hook, { mode: 0o755 });

    const tag = command === 'create-tag' ? 'v1.1.0' : 'v1';
    const reason = `${tag} is at ${first} after the push, not at ${git('rev-parse', 'HEAD')}`;
    expect(await release(command, '1.1.0')).toEqual({ status: 1, said: expect.stringContaining(reason) });
  },
);

test.concurrent.for<[claim: string, version: string, reason: RegExp, prepare?: (scene: Scene) => void]>([
  ['an incomplete version', '1.0', /“1.0” is no version of a release/],
  ['a tag in place of a version', 'v1.0.0', /“v1.0.0” is no version of a release/],
  ['a version other than that of package.json', '1.1.0', /package.json says 1.0.0, not 1.1.0/],
  ['a lock file of another version', '1.1.0', /lock.json says 1.0.0/, ({ setVersion }) => setVersion('1.1.0', '1.0.0')],
  ['a version that the changelog lacks', '1.2.0', /no dated entry of 1.2.0/, ({ setVersion }) => setVersion('1.2.0')],
  ['a changelog without a date', '0.9.0', /no dated entry of 0.9.0/, ({ setVersion }) => setVersion('0.9.0')],
  ['a changed dist', '1.0.0', /not as committed:\nM dist\/main\/index/, ({ write }) => write('dist/main/index.js', '')],
  ['an uncommitted file', '1.0.0', /not as committed:\n\?\? dist/, ({ write }) => write('dist/more', '')],
  ['a commit that is not on main', '1.0.0', /[0-9a-f]{40} is not on main/, ({ commit }) => commit()],
])('release.js verify rejects %s', async ([, version, reason, prepare], context) => {
  const scene = prepare === undefined ? at(template) : setUp(context);
  prepare?.(scene);
  expect(await scene.release('verify', version)).toEqual({ status: 1, said: expect.stringMatching(reason) });
});

test.concurrent('every command of release.js rejects a version whose tag is at another commit, and changes nothing', async (context) => {
  const { folder, git, merge, release } = setUp(context);
  git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.0.0');
  merge();
  const tags = git('ls-remote', '--tags', 'origin');
  const said = expect.stringMatching(/v1.0.0 exists already, at [0-9a-f]{40}/);

  for (const [command = '', ...more] of [['verify'], ['pack', join(folder, 'packed')], ['create-tag'], ['move-major']])
    expect(await release(command, '1.0.0', ...more)).toEqual({ status: 1, said });

  expect(readdirSync(folder)).not.toContain('packed');
  expect(git('ls-remote', '--tags', 'origin')).toBe(tags);
});

test.concurrent('release.js rehearse runs the steps of the release workflow, and says what is not set up yet', async (context) => {
  const { write, commit, release, git } = setUp(context);
  write('CHANGELOG.md', changelog.replace('[1.0.0] - 2026-01-02', '[1.0.0]'));
  const ruleset = readJson(versionTags);
  ruleset.bypass_actors[0].actor_id = 0;
  write(versionTags, JSON.stringify(ruleset));
  commit();

  const { status, said } = await release('rehearse');

  const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
  const inWorkflow = Object.entries<{ steps: { run?: string }[] }>(jobs).flatMap(([job, { steps }]) => {
    const scripts = steps.map(({ run }) => run).join('\n');
    return [...scripts.matchAll(/(?:run release --|release\.js) ([\w-]+)/g)].map(([, step]) => `${job}: ${step}`);
  });
  expect(inWorkflow).toHaveLength(5);
  expect(said.match(/^\w+: (verify|pack|create-tag|move-major)$/gm)).toEqual(inWorkflow);
  expect(said).toMatch(/attests .* approval .* compares .* verifies .* publishes .* compares its assets/s);
  expect(said).toContain('- The first.');
  expect(said).toContain(`Before the first release: ${versionTags} still has 0 in place of the App ID`);
  expect(status).toBe(0);
  expect(git('status', '--porcelain')).toBe('');
});
