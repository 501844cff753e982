import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

type Fields = Readonly<Record<string, unknown>>;

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly id?: string; uses?: string; run?: string; with?: Fields; env?: Fields }[];
}

const folder = '.github/workflows';
const workflow = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));
const jobsOf = (file: string) => Object.entries<Job>(workflow(file).jobs);
const jobs = readdirSync(folder).flatMap((file) => jobsOf(file).map(([id, job]) => ({ id: `${file}: ${id}`, ...job })));
const { publish }: Record<'publish', Job> = workflow('release.yml').jobs;

test('no token of a workflow can write to the repository', () => {
  const writing = jobs.flatMap(({ id, permissions = {} }) =>
    Object.entries(permissions).flatMap(([name, access]) => (access === 'write' ? [`${id}: ${name}`] : [])),
  );
  const ofRelease = ['attestations', 'id-token'].map((name) => `release.yml: attest: ${name}`);
  expect(writing.sort()).toEqual(['codeql.yml: analyze: security-events', ...ofRelease]);
});

test('the release workflow runs its jobs only if a person starts it on main', () => {
  expect(Object.keys(workflow('release.yml').on)).toEqual(['workflow_dispatch']);
  // A job that needs a skipped one is skipped, unless it has a condition of its own.
  expect(jobsOf('release.yml').map(([name, job]) => [name, job.needs, job.if])).toEqual([
    ['test', undefined, "github.ref == 'refs/heads/main' && github.event.sender.type == 'User'"],
    ['pack', 'test', undefined],
    ['attest', 'pack', undefined],
    ['publish', 'attest', undefined],
  ]);
});

test('only the publish job reads a secret, after an approval, and it writes to the repository as a GitHub App', () => {
  const reading = jobs.filter((job) => JSON.stringify(job).includes('secrets.'));
  expect(reading).toMatchObject([{ id: 'release.yml: publish', environment: 'release' }]);
  const app = publish.steps.find(({ id }) => id === 'app');
  expect(app?.uses).toMatch(/^actions\/create-github-app-token@/);
  const writes = /create-tag|move-major|gh release (create|edit|delete)/;
  const tokens = publish.steps.flatMap(({ run = '', env }) => (writes.test(run) ? [env?.['GH_TOKEN']] : []));
  expect(tokens).toEqual(Array(3).fill(`\${{ steps.app.outputs.token }}`));
});

const filesOfRunner = ['action.yml', 'dist/main/index.js', 'node24/action.yml'];
const archive = 'build/release/assets/ctl-action-1.0.0.tar.gz';
const releaseYml = 'org/ctl-action/.github/workflows/release.yml';
const fromMain = `--repo org/ctl-action --signer-workflow ${releaseYml} --source-ref refs/heads/main`;

/** Runs a script beside the files of a release. The stand-in of `gh` prints what it verifies, and fails for one of them. */
function runScript(script: string, unproved: string, flags = '-eo pipefail') {
  const folder = mkdtempSync(join(tmpdir(), 'publish-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const gh = `#!/bin/bash\n[[ "$*" == *"${unproved} "* ]] && exit 1\n[[ $1 == release ]] || echo "\${@:3}"`;
  for (const path of [...filesOfRunner, archive, 'bin/gh']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), gh, { mode: 0o755 });
  }
  execFileSync('bash', ['-c', 'git init --quiet && git add .'], { cwd: folder });
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`;
  const env = { PATH, COMMIT: 'c0ffee', GH_REPO: 'org/ctl-action', WORKFLOW: releaseYml };
  const words = ['--noprofile', '--norc', ...flags.split(' '), '-c', script];
  const { status, stdout } = spawnSync('bash', words, { cwd: folder, env, encoding: 'utf8' });
  return { status, said: stdout.trimEnd().split('\n').sort() };
}

test('the publish job verifies that the release workflow built each file from this commit on main', () => {
  const script = publish.steps.find(({ run }) => run?.includes('gh attestation verify'))?.run ?? '';
  const files = [...filesOfRunner, archive];
  const said = files.map((file) => `${file} ${fromMain} --deny-self-hosted-runners --source-digest c0ffee`).sort();
  expect(runScript(script, 'none')).toEqual({ status: 0, said });
  for (const unproved of files) expect(runScript(script, unproved).status).toBe(1);
});

test('the publish job verifies files before it reads a secret, and the published release before it moves v1', () => {
  const order = JSON.stringify(publish.steps).match(/secrets\.|gh attestation|gh release verify|diff |move-major/g);
  expect(order).toEqual(['gh attestation', 'secrets.', 'gh release verify', 'diff ', 'move-major']);
});

test('the commands in SECURITY.md verify a release and each of its files, and exit with 1 if one is not proved', () => {
  const [, commands = ''] = /```bash\n(.*?)```/s.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
  const files = ['ctl-action-1.0.0.tar.gz', ...filesOfRunner];
  const said = files.map((file) => `${file} ${fromMain} --deny-self-hosted-runners`).sort();
  expect(runScript(commands, 'none', '+e')).toEqual({ status: 0, said });
  for (const unproved of ['release verify v1.0.0', ...files])
    expect(runScript(commands, unproved, '+e').status).toBe(1);
});

test('the job “CI” needs all other jobs of ci.yml', () => {
  const { ci, ...others } = workflow('ci.yml').jobs;
  expect([ci.name, ci.needs]).toEqual(['CI', Object.keys(others)]);
});
