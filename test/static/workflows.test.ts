import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

type Fields = Readonly<Record<string, unknown>>;

interface Job {
  readonly name?: string;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly id?: string; uses?: string; run?: string; with?: Fields; env?: Fields }[];
}

const folder = '.github/workflows';
const files = readdirSync(folder);
const workflow = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));
const filesInGit = (...paths: readonly string[]) =>
  execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
const jobsOf = (file: string) => Object.entries<Job>(workflow(file).jobs);
const jobs = files.flatMap((file) => jobsOf(file).map(([id, job]) => ({ id: `${file}: ${id}`, ...job })));
const { pack, publish }: Record<'pack' | 'publish', Job> = workflow('release.yml').jobs;

test('no token of a workflow can write to the repository', () => {
  const writing = jobs.flatMap(({ id, permissions = {} }) =>
    Object.entries(permissions).flatMap(([name, access]) => (access === 'write' ? [`${id}: ${name}`] : [])),
  );
  expect(writing.sort()).toEqual([
    ...['codeql.yml: analyze: security-events', 'release.yml: attest: attestations'],
    ...['release.yml: attest: id-token', 'scorecard.yml: score: security-events'],
  ]);
});

test('every job that reads a secret runs in an environment that is restricted to main', () => {
  const reading = jobs.filter((job) => JSON.stringify(job).includes('secrets.'));
  expect(reading.map(({ id, environment }) => [id, environment])).toEqual([
    ['release.yml: publish', 'release'],
    ['settings.yml: compare', 'settings'],
  ]);
  const settings = JSON.parse(readFileSync('.github/settings.json', 'utf8'));
  const onlyMain = { branch_policies: [{ name: 'main', type: 'branch' }] };
  for (const { environment } of reading)
    expect(settings[`environments/${environment}/deployment-branch-policies`]).toEqual(onlyMain);
});

test('no workflow uses a cache', () => {
  const { runs: install }: { runs: Job } = parse(readFileSync('.github/actions/install/action.yml', 'utf8'));
  const steps = [...jobs, install].flatMap((job) => job.steps);
  const stepsOf = (action: string) => steps.filter(({ uses }) => uses?.startsWith(action));
  expect(stepsOf('actions/cache')).toEqual([]);
  const setUps = stepsOf('actions/setup-');
  expect(setUps.length).toBeGreaterThan(2);
  expect(setUps).toEqual(stepsOf('actions/setup-node@'));
  for (const { with: inputs } of setUps) expect(inputs?.['package-manager-cache']).toBe(false);
  expect(stepsOf('github/codeql-action/init@')).toMatchObject([{ with: { 'trap-caching': false } }]);
});

test('a release skips all its jobs unless a person starts it on main', () => {
  expect(Object.keys(workflow('release.yml').on)).toEqual(['workflow_dispatch']);
  // A job that needs a skipped one is skipped, unless it has a condition of its own.
  expect(jobsOf('release.yml').map(([name, job]) => [name, job.needs, job.if])).toEqual([
    ['test', undefined, "github.ref == 'refs/heads/main' && github.event.sender.type == 'User'"],
    ['pack', 'test', undefined],
    ['attest', 'pack', undefined],
    ['publish', ['pack', 'attest'], undefined],
  ]);
});

test('only the last job of a release writes to the repository, after an approval and as the App', () => {
  expect(publish).toMatchObject({ needs: ['pack', 'attest'], environment: 'release' });
  const app = publish.steps.find(({ id }) => id === 'app');
  expect(app?.uses).toMatch(/^actions\/create-github-app-token@/);
  const permissions = Object.entries(app?.with ?? {}).filter(([name]) => name.startsWith('permission-'));
  // GitHub rejects a tag of an App without Workflows if main has other workflows by then than the tagged commit.
  expect(permissions.sort()).toEqual(['contents', 'workflows'].map((name) => [`permission-${name}`, 'write']));
  const writes = /create-tag|move-major|gh release (create|edit|delete)/;
  const tokens = publish.steps.flatMap(({ run = '', env }) => (writes.test(run) ? [env?.['GH_TOKEN']] : []));
  expect(tokens).toEqual(Array(3).fill(`\${{ steps.app.outputs.token }}`));
});

test('the job that packs a release installs no packages', () => {
  expect(pack.steps.map(({ uses, run }) => uses?.replace(/@.*/, '') ?? run)).toEqual([
    ...['step-security/harden-runner', 'actions/checkout', 'actions/setup-node'],
    ...['node scripts/release.js pack "$VERSION" build/release', 'actions/upload-artifact'],
  ]);
});

/** Runs the scripts of the publish job that check a release. The commands `node` and `gh` begin with these lines of bash. */
function checkRelease(node: string, gh: string) {
  const folder = mkdtempSync(join(tmpdir(), 'publish-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['action.yml', 'node24', 'dist']) cpSync(path, join(folder, path), { recursive: true });
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: 0o755 });
  };
  for (const path of ['build/release/assets/a.tar.gz', 'build/bundles/provenance.intoto.jsonl'])
    for (const place of [path, join('published', basename(path))]) write(place, `as packed: ${path}`);
  const packAgain = `[[ "$1 $2 $3" = 'scripts/release.js pack 1.0.0' ]] && cp -r build/release "$4"`;
  write('bin/node', `#!/bin/bash\n${packAgain}\n${node}`);
  const responses = `
    'attestation verify') shift 2; echo "$*" ;;
    'api '*) echo true ;;
    'release verify') ;;
    'release download') cp -r published "\${@: -1}" ;;
    *) exit 9 ;;`;
  write('bin/gh', `#!/bin/bash\n${gh}\ncase "$1 $2" in ${responses} esac`);
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`;
  const names = { GH_REPO: 'org/ctl-action', WORKFLOW: 'org/ctl-action/release.yml' };
  const env = { PATH, VERSION: '1.0.0', COMMIT: 'c0ffee', ...names };
  const scripts = publish.steps.filter(({ run = '' }) => /release.js pack|gh attestation|gh release verify/.test(run));
  return scripts.map(({ run = '' }) => {
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run];
    const { status, stdout, stderr } = spawnSync('bash', words, { cwd: folder, env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  });
}

test('the publish job verifies that this workflow built each attested file from this commit on main', () => {
  const [packing, attesting, published] = checkRelease('', '');
  expect([packing, attesting?.status, published]).toEqual([{ status: 0, said: '' }, 0, { status: 0, said: '' }]);
  const workflow = '--repo org/ctl-action --signer-workflow org/ctl-action/release.yml';
  const from = `${workflow} --source-ref refs/heads/main --source-digest c0ffee --deny-self-hosted-runners`;
  const expected = [...filesInGit('action.yml', 'node24', 'dist'), 'build/release/assets/a.tar.gz'].flatMap((file) =>
    ['', ' --bundle build/bundles/provenance.intoto.jsonl'].map((bundle) => `${file} ${from}${bundle}`),
  );
  expect(attesting?.said.trimEnd().split('\n').sort()).toEqual(expected.sort());
});

test.for([
  ['packing again gives another asset', 'echo x > "$4/assets/a.tar.gz"', '', 0, /Files .*a.tar.gz differ/],
  ['packing again gives one more file', 'touch "$4/assets/b"', '', 0, /Only in build\/again\/assets: b/],
  ['a file is not attested', '', '[[ "$*" != *"dist/post/index.js "*--bundle* ]] || exit 1', 1, /a.tar.gz --repo/],
  ['somebody replaced an asset of the release', '', 'echo x > published/a.tar.gz', 2, /Files .* differ/],
  ['somebody added an asset to the release', '', 'touch published/b.tar.gz', 2, /Only in .*: b.tar.gz/],
] as const)('the publish job stops before it reads a secret or moves v1 if %s', ([, node, gh, failing, said]) => {
  expect(checkRelease(node, gh)[failing]).toEqual({ status: 1, said: expect.stringMatching(said) });
  const order = JSON.stringify(publish.steps).match(/release\.js pack|secrets\.|gh \w+ verify|move-major/g);
  const checks = ['release.js pack', 'gh attestation verify', 'gh attestation verify'];
  expect(order).toEqual([...checks, 'secrets.', 'gh release verify', 'move-major']);
});

test('each check that the branch main requires is a job, and the job “CI” needs all other jobs', () => {
  const { rules } = JSON.parse(readFileSync('.github/rulesets/main.json', 'utf8'));
  const { parameters } = rules.find(({ type = '' }) => type === 'required_status_checks');
  const names = parameters.required_status_checks.map(({ context = '' }) => context);
  expect(jobs.map(({ name }) => name)).toEqual(expect.arrayContaining(['CI', ...names]));
  const { ci, ...others } = workflow('ci.yml').jobs;
  expect([ci.name, ci.needs]).toEqual(['CI', Object.keys(others)]);
});

test('Dependabot updates all actions, and every manifest that pins versions', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8'));
  const read = updates.flatMap(({ 'package-ecosystem': ecosystem = '', directory = '', directories = [''] }) =>
    directories.map((place: string) => `${ecosystem} ${place || directory}`),
  );
  const ecosystems: Record<string, string> = {
    'package-lock.json': 'npm',
    'go.mod': 'gomod',
    'requirements.txt': 'pip',
  };
  const manifests = Object.keys(ecosystems).map((file) => `:(glob)**/${file}`);
  const pinned = filesInGit(...manifests).map((path) => `${ecosystems[basename(path)]} ${join('/', dirname(path))}`);
  const actions = ['/', '/.github/actions/*', '/examples'].map((place) => `github-actions ${place}`);
  expect(read.sort()).toEqual([...pinned, ...actions].sort());
});
