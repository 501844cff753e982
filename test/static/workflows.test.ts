import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

type Fields = Readonly<Record<string, unknown>>;

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly { readonly id?: string; uses?: string; run?: string; with?: Fields; env?: Fields }[];
}

const folder = '.github/workflows';
const files = readdirSync(folder);
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const workflow = (file: string) => parse(read(file));
const jobsOf = (file: string) => Object.entries<Job>(workflow(file).jobs);
const jobs = files.flatMap((file) => jobsOf(file).map(([id, job]) => ({ id: `${file}: ${id}`, ...job })));
const {
  test: testing,
  pack,
  attest,
  publish,
}: Record<'test' | 'pack' | 'attest' | 'publish', Job> = workflow('release.yml').jobs;

/** The one script of the job that publishes with this text. */
function scriptOf(text: string): string {
  const [script = '', ...more] = publish.steps.flatMap(({ run }) => (run?.includes(text) ? [run] : []));
  expect(more).toEqual([]);
  return script;
}

const usesLines = ['.github', 'examples'].flatMap((place) =>
  readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yml'))
    .flatMap((path) => readFileSync(join(place, path), 'utf8').match(/(?<=^[ -]*uses: *)\S.*$/gm) ?? [])
    .map((uses) => ({ place, uses })),
);

test('every action is pinned by its full commit, with its version as a comment', () => {
  // Actions of this repository need no pin. The examples show this action by its major version.
  const others = usesLines.filter(({ uses }) => !uses.startsWith('./') && uses !== 'org/ctl-action@v1');
  expect(others.length).toBeGreaterThan(20);
  const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} +# v\d+\.\d+\.\d+$/;
  expect(others.filter(({ uses }) => !pinned.test(uses))).toEqual([]);
});

test('all workflows use the same pin for an action', () => {
  const pins = usesLines
    .filter(({ place, uses }) => place === '.github' && !uses.startsWith('./'))
    .map(({ uses }) => uses.replace(/^([\w.-]+\/[\w.-]+)[\w./-]*@/, '$1@'));
  const names = new Set(pins.map((pin) => pin.slice(0, pin.indexOf('@'))));
  expect(new Set(pins).size).toBe(names.size);
});

test('no workflow runs with the rights of this repository on behalf of a fork', () => {
  const events = new Set(files.flatMap((file) => Object.keys(workflow(file).on)));
  const known = ['branch_protection_rule', 'pull_request', 'push', 'schedule', 'workflow_dispatch'];
  expect([...events].sort()).toEqual(known);
});

test('workflows grant no permissions, and each job names its own', () => {
  for (const file of files) expect(workflow(file).permissions, file).toEqual({});
  expect(jobs.filter(({ permissions }) => permissions === undefined)).toEqual([]);
});

test('no token of a workflow can write to the repository', () => {
  const writing = jobs.flatMap(({ id, permissions = {} }) =>
    Object.entries(permissions).flatMap(([name, access]) => (access === 'write' ? [`${id}: ${name}`] : [])),
  );
  expect(writing.sort()).toEqual([
    'codeql.yml: analyze: security-events',
    'release.yml: attest: attestations',
    'release.yml: attest: id-token',
    'scorecard.yml: score: security-events',
  ]);
});

test('every job that reads a secret runs in an environment that is restricted to main', () => {
  const reading = jobs.filter((job) => JSON.stringify(job).includes('secrets.'));
  expect(reading.map(({ id, environment }) => [id, environment])).toEqual([
    ['release.yml: publish', 'release'],
    ['settings.yml: compare', 'settings'],
  ]);
  const settings = JSON.parse(readFileSync('.github/settings.json', 'utf8'));
  for (const { environment } of reading) {
    expect(settings[`environments/${environment}/deployment-branch-policies`]).toEqual({
      branch_policies: [{ name: 'main', type: 'branch' }],
    });
  }
});

test('every job has a timeout', () => {
  expect(jobs.filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
});

test('no workflow uses a cache', () => {
  expect(usesLines.filter(({ uses }) => uses.startsWith('actions/cache'))).toEqual([]);
  for (const path of ['.github/workflows/release.yml', '.github/actions/install/action.yml']) {
    const text = readFileSync(path, 'utf8');
    const setUps = text.match(/(?<=uses: actions\/)setup-\w+/g) ?? [];
    expect(new Set(setUps)).toEqual(new Set(['setup-node']));
    expect(text.match(/package-manager-cache: false/g)).toHaveLength(setUps.length);
  }
  const codeql = jobsOf('codeql.yml').flatMap(([, { steps }]) => steps.filter(({ uses }) => uses?.includes('/init@')));
  expect(codeql).toMatchObject([{ with: { 'trap-caching': false } }]);
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

test('only the last job of a release writes, after an approval and as the App', () => {
  expect(publish).toMatchObject({ needs: ['pack', 'attest'], environment: 'release' });
  const app = publish.steps.find(({ id }) => id === 'app');
  expect(app?.uses).toMatch(/^actions\/create-github-app-token@/);
  const permissions = Object.entries(app?.with ?? {}).filter(([name]) => name.startsWith('permission-'));
  // GitHub rejects a tag of an App without Workflows if main has other workflows by then than the tagged commit.
  expect(permissions.sort()).toEqual(['contents', 'workflows'].map((name) => [`permission-${name}`, 'write']));
  const writing = publish.steps.filter(({ run = '' }) =>
    /create-tag|move-major|gh release (create|edit|delete)/.test(run),
  );
  expect(writing.map(({ env }) => env)).toEqual(Array(3).fill({ GH_TOKEN: `\${{ steps.app.outputs.token }}` }));
});

test('the job that packs a release installs no packages', () => {
  const words = pack.steps.map(({ uses, run }) => uses?.replace(/@.*/, '') ?? run);
  expect(words).toEqual([
    'step-security/harden-runner',
    'actions/checkout',
    'actions/setup-node',
    'node scripts/release.js pack "$VERSION" build/release',
    'actions/upload-artifact',
  ]);
});

test('the release jobs that build or pack start with harden-runner', () => {
  for (const { steps } of [testing, pack]) {
    expect(steps[0]?.uses).toMatch(/^step-security\/harden-runner@/);
    expect(steps[0]?.with).toMatchObject({ 'egress-policy': expect.stringMatching(/^(audit|block)$/) });
  }
});

test('the provenance of a release covers the packed files, and is one of its assets', () => {
  const provenance = attest.steps.find(({ id }) => id === 'provenance');
  expect(provenance?.with).toEqual({ 'subject-checksums': 'release/checksums.txt' });
  expect(scriptOf('gh release create')).toContain('build/release/assets/* build/bundles/*');
});

/** A checkout and the downloads of the job that publishes, and a `gh` that answers as the test says. */
function publishing(gh: string) {
  const folder = mkdtempSync(join(tmpdir(), 'publish-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['action.yml', 'node24', 'dist']) cpSync(path, join(folder, path), { recursive: true });
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: 0o755 });
  };
  for (const path of ['build/release/assets/a.tar.gz', 'build/bundles/provenance.intoto.jsonl'])
    for (const place of [path, join('published', basename(path))]) write(place, `as packed: ${path}`);
  write('bin/gh', `#!/bin/bash\n${gh}\n`);
  /** Runs the one script with this text, as a runner does. */
  const run = (text: string) => {
    const env = {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`,
      ...{ VERSION: '1.0.0', GH_REPO: 'org/ctl-action', COMMIT: 'c0ffee', WORKFLOW: 'org/ctl-action/release.yml' },
    };
    const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', scriptOf(text)];
    const { status, stdout, stderr } = spawnSync('bash', words, { cwd: folder, env, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  return { write, run };
}

test.for(['build/release/assets/a.tar.gz', 'action.yml', 'dist/post/index.js'])(
  'the publish job fails if %s has no valid attestation',
  (bad) => {
    const { run } = publishing(`echo "$@"; [[ "$*" != *"${bad} "*--bundle* ]]`);
    const said = expect.stringContaining(`attestation verify ${bad} --repo org/ctl-action`);
    expect(run('gh attestation verify')).toEqual({ status: 1, said });
  },
);

test.for([
  ['the same files', '', 0, /^$/],
  ['another asset', 'echo x > "$4/assets/a.tar.gz"', 1, /Files .*a.tar.gz differ/],
  ['one more file', 'touch "$4/assets/b"', 1, /Only in build\/again\/assets: b/],
] as const)('the publish job packs again before it reads a secret, and compares: %s', ([, change, status, said]) => {
  const { write, run } = publishing('');
  write(
    'bin/node',
    `#!/bin/bash\n[[ "$1 $2 $3" = 'scripts/release.js pack 1.0.0' ]] && cp -r build/release "$4"\n${change}`,
  );
  expect(run('release.js pack')).toEqual({ status, said: expect.stringMatching(said) });
  const steps = publish.steps.map((step) => JSON.stringify(step));
  const packing = steps.findIndex((step) => step.includes('release.js pack'));
  expect(packing).toBeGreaterThan(0);
  expect(steps.slice(0, packing + 1).filter((step) => step.includes('secrets.'))).toEqual([]);
});

test('the publish job verifies that this workflow built each attested file from this commit on main', () => {
  const { status, said } = publishing('shift 2; echo "$*"').run('gh attestation verify');
  const files = execFileSync('git', ['ls-files', 'action.yml', 'node24', 'dist'], { encoding: 'utf8' });
  const from =
    '--repo org/ctl-action --signer-workflow org/ctl-action/release.yml --source-ref refs/heads/main ' +
    '--source-digest c0ffee --deny-self-hosted-runners';
  const expected = [...files.trimEnd().split('\n'), 'build/release/assets/a.tar.gz'].flatMap((file) => [
    `${file} ${from}`,
    `${file} ${from} --bundle build/bundles/provenance.intoto.jsonl`,
  ]);
  expect(said.trimEnd().split('\n').sort()).toEqual(expected.sort());
  expect(status).toBe(0);
});

const githubHasTheRelease = `
  case "$1 $2" in
    'api '*) echo true ;;
    'release verify') ;;
    'release download') cp -r published "\${@: -1}" ;;
    *) exit 9 ;;
  esac`;

test.for([
  ['replaced', 'published/a.tar.gz', /Files .* differ/],
  ['added', 'published/more.tar.gz', /Only in .*: more.tar.gz/],
] as const)('the publish job does not move v1 to a release with an asset that somebody else %s', ([, path, reason]) => {
  const { write, run } = publishing(githubHasTheRelease);
  write(path, 'of somebody else');
  expect(run('gh release verify')).toEqual({ status: 1, said: expect.stringMatching(reason) });
  const order = publish.steps.flatMap(({ run }) => run?.match(/gh release verify|move-major/g) ?? []);
  expect(order).toEqual(['gh release verify', 'move-major']);
});

test('the publish job accepts a release whose assets match the packed ones', () => {
  expect(publishing(githubHasTheRelease).run('gh release verify')).toEqual({ status: 0, said: '' });
});

test('CI and the nightly run check the pinned actions for known vulnerabilities', () => {
  const tokens = (file: string) =>
    jobsOf(file).flatMap(([, { steps }]) => steps.flatMap(({ env }) => env?.['GH_TOKEN'] ?? []));
  expect(tokens('ci.yml')).toEqual([`\${{ matrix.script == 'check:workflows' && github.token || '' }}`]);
  expect(tokens('nightly.yml')).toEqual([`\${{ github.token }}`]);
  expect(workflow('nightly.yml').on).toHaveProperty('schedule');
});

test('the Scorecard job publishes nothing, because it runs an image that is not pinned', () => {
  const [[, score] = []] = jobsOf('scorecard.yml');
  const [step] = score?.steps.filter(({ uses }) => uses?.startsWith('ossf/scorecard-action@')) ?? [];
  expect(step?.with).toMatchObject({ publish_results: false });
  expect(score?.permissions).not.toHaveProperty('id-token');
});

test('the CI job that main requires depends on all other CI jobs', () => {
  const { ci, ...others } = workflow('ci.yml').jobs;
  expect(ci?.needs).toEqual(Object.keys(others));
});

interface Update {
  readonly 'package-ecosystem': string;
  readonly directory?: string;
  readonly directories?: readonly string[];
}

const { updates }: { updates: readonly Update[] } = parse(readFileSync('.github/dependabot.yml', 'utf8'));

test('Dependabot updates every manifest with pinned versions, and all actions', () => {
  const read = updates.flatMap(({ 'package-ecosystem': ecosystem, directory, directories = [directory ?? ''] }) =>
    directories.map((place) => `${ecosystem} ${place}`),
  );
  const manifests = { npm: 'package-lock.json', gomod: 'go.mod', pip: 'requirements.txt' };
  const pinned = Object.entries(manifests).flatMap(([ecosystem, file]) => {
    const paths = execFileSync('git', ['ls-files', `:(glob)**/${file}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n');
    return paths.map((path) => `${ecosystem} ${join('/', dirname(path))}`);
  });
  const actions = ['/', '/.github/actions/*', '/examples'].map((place) => `github-actions ${place}`);
  expect(read.sort()).toEqual([...pinned, ...actions].sort());
});

test('Dependabot waits a week before it proposes a release', () => {
  const weekly = { schedule: { interval: 'weekly' }, cooldown: { 'default-days': 7 } };
  expect(updates).toMatchObject(updates.map(() => weekly));
});
