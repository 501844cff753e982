import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runNode } from './run-node.js';

interface Rule {
  readonly type: string;
  readonly parameters?: {
    required_reviewers?: unknown[];
    require_code_owner_review?: boolean;
    required_status_checks?: unknown[];
  };
}

interface Ruleset {
  readonly name: string;
  enforcement: string;
  bypass_actors?: { actor_id: number; actor_type: string; bypass_mode: string }[];
  readonly conditions: { readonly ref_name: { readonly include: string[]; exclude: string[] } };
  readonly rules: Rule[];
}

const rulesetList = '/rulesets?includes_parents=false&per_page=100';

/** What GitHub answers on each path, as far as a test changes it. */
interface Answers {
  [ruleset: `/rulesets/${number}`]: Ruleset;
  [rulesetList]: { id: number; name: string }[];
  readonly '/environments/release': { readonly protection_rules: { prevent_self_review?: boolean }[] };
  readonly '/environments/release/deployment-branch-policies': { branch_policies: { name: string; type: string }[] };
  readonly '/immutable-releases': { enabled: boolean };
}

const rulesets = new Map<string, Ruleset>(
  readdirSync('.github/rulesets').map((file) => [file, readJson(join('.github/rulesets', file))]),
);

const versionTags = '.github/rulesets/version-tags.json';

const releaseApp = 12345;
const filledIn = folderWithApp(releaseApp);
afterAll(() => rmSync(filledIn, { recursive: true }));

/** A folder with the files of a repository whose owner has written the id of the App of the release into its ruleset. */
function folderWithApp(id: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'repository-settings-'));
  for (const path of ['.github/rulesets', '.github/settings.json'])
    cpSync(path, join(folder, path), { recursive: true });
  writeFileSync(join(folder, versionTags), JSON.stringify(withApp(readJson(versionTags), id)));
  return folder;
}

function withApp(ruleset: Ruleset, id: number): Ruleset {
  return { ...ruleset, bypass_actors: [{ ...existing(ruleset.bypass_actors?.[0]), actor_id: id }] };
}

/** GitHub's answers where all is set as in the files; GitHub adds fields of its own, and lists rules in its own order. */
function asInFiles(): Answers {
  const set = [...rulesets].map(([file, ruleset], index) => ({
    ...structuredClone(file === 'version-tags.json' ? withApp(ruleset, releaseApp) : ruleset),
    id: index + 1,
    source_type: 'Repository',
    source: 'org/ctl-action',
    current_user_can_bypass: 'never',
    rules: structuredClone(ruleset.rules).reverse(),
  }));
  parametersOf(existing(set.find(({ name }) => name === 'main')), 'pull_request').required_reviewers = [];
  const settings = readJson<Record<string, object>>('.github/settings.json');
  return {
    [rulesetList]: set.map(({ id, name }) => ({ id, name })),
    ...Object.fromEntries(set.map((ruleset) => [`/rulesets/${ruleset.id}`, ruleset])),
    ...Object.fromEntries(
      Object.entries(settings).map(([path, value]) => [`/${path}`, { ...value, url: 'https://example.com/' }]),
    ),
  } as Answers;
}

function parametersOf({ rules }: Ruleset, wanted: string): NonNullable<Rule['parameters']> {
  return existing(rules.find(({ type }) => type === wanted)?.parameters);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Runs the script against a server that plays GitHub. */
async function compare(answers: Partial<Answers>, cwd = filledIn) {
  const tokens = new Set<string>();
  const byPath = new Map<string, unknown>(Object.entries(answers));
  const server = createServer((request, response) => {
    tokens.add(request.headers.authorization ?? '');
    const answer = byPath.get((request.url ?? '').replace('/repos/org/ctl-action', ''));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { message: 'Not Found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, GITHUB_API_URL: `http://127.0.0.1:${port}`, GH_TOKEN: 'a-token' };
  const { status, said } = await runNode([resolve('scripts/repository-settings.js'), 'org/ctl-action'], { env, cwd });
  server.close();
  return { status, said, tokens: [...tokens] };
}

function rulesetNamed(answers: Answers, wanted: string): Ruleset {
  const id = answers[rulesetList].find(({ name }) => name === wanted)?.id ?? 0;
  return existing(answers[`/rulesets/${id}`]);
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the files of this repository lack it');
  return value;
}

test.concurrent('settings that are as in the files are accepted', async () => {
  expect(await compare(asInFiles())).toEqual({
    status: 0,
    said: 'The settings of the repository are those of the files.\n',
    tokens: ['Bearer a-token'],
  });
});

/** GitHub's answers, and the rulesets in them. */
function settings() {
  const answers = asInFiles();
  const named = (name: string) => rulesetNamed(answers, name);
  return { answers, main: named('main'), versionTags: named('version tags'), releaseTags: named('release tags') };
}

const actor = { actor_id: 5, bypass_mode: 'always' };

/** Each row changes a setting, and has what the comparison says of it. */
const changes: [string, (github: ReturnType<typeof settings>) => unknown, RegExp][] = [
  [
    'a ruleset that is only evaluated',
    ({ main }) => Object.assign(main, { enforcement: 'evaluate' }),
    /ruleset “main”: enforcement: the file has "active", GitHub has "evaluate"/,
  ],
  [
    'a second App that may move tags',
    ({ versionTags }) => versionTags.bypass_actors?.push({ ...actor, actor_type: 'Integration' }),
    /ruleset “version tags”: bypass_actors: the file has .*, GitHub has .*"actor_id":5/,
  ],
  [
    'an admin who may bypass the review',
    ({ main }) => main.bypass_actors?.push({ ...actor, actor_type: 'RepositoryRole' }),
    /ruleset “main”: bypass_actors: the file has \[\], GitHub has/,
  ],
  [
    'a rule that was taken out',
    ({ versionTags }) => versionTags.rules.pop(),
    /ruleset “version tags”: rules: creation: the file has .*, GitHub has undefined/,
  ],
  [
    'a rule that no file has',
    ({ releaseTags }) => releaseTags.rules.push({ type: 'required_signatures' }),
    /ruleset “release tags”: rules: required_signatures: the file has undefined/,
  ],
  [
    'a review that code owners need not give',
    ({ main }) => Object.assign(parametersOf(main, 'pull_request'), { require_code_owner_review: false }),
    /require_code_owner_review: the file has true, GitHub has false/,
  ],
  [
    'a condition that leaves out some tags',
    ({ versionTags }) => versionTags.conditions.ref_name.exclude.push('refs/tags/v1'),
    /conditions: ref_name: exclude: the file has \[\], GitHub has \["refs\/tags\/v1"\]/,
  ],
  [
    'a ruleset that is not set',
    ({ answers }) =>
      Object.assign(answers, {
        [rulesetList]: answers[rulesetList].filter(({ name }) => !name.startsWith('no branches')),
      }),
    /ruleset “no branches named like versions”: expected 1, found 0/,
  ],
  [
    'a ruleset that no file describes',
    ({ answers }) => answers[rulesetList].push({ id: 99, name: 'more' }),
    /ruleset “more”: no file describes it/,
  ],
  [
    'an environment that other branches may use',
    ({ answers }) =>
      answers['/environments/release/deployment-branch-policies'].branch_policies.push({ name: '*', type: 'branch' }),
    /environments\/release\/deployment-branch-policies: branch_policies: the file has/,
  ],
  [
    'a release that its author may approve',
    ({ answers }) =>
      Object.assign(existing(answers['/environments/release'].protection_rules[0]), { prevent_self_review: false }),
    /environments\/release: protection_rules: the file has/,
  ],
  [
    'releases that can be changed',
    ({ answers }) => Object.assign(answers['/immutable-releases'], { enabled: false }),
    /immutable-releases: enabled: the file has true, GitHub has false/,
  ],
];

describe('with a change of each kind', () => {
  let outcome: Awaited<ReturnType<typeof compare>>;
  beforeAll(async () => {
    const github = settings();
    for (const [, change] of changes) change(github);
    outcome = await compare(github.answers);
  });

  test('the comparison fails, and names each change once', () => {
    expect(outcome.said.trimEnd().split('\n')).toHaveLength(changes.length + 1);
    expect(outcome.said).toContain(`repository-settings: ${changes.length} settings differ from the files`);
    expect(outcome.status).toBe(1);
  });

  test.for(changes)('the comparison names %s', ([, , reason]) => {
    expect(outcome.said).toMatch(reason);
  });
});

test.concurrent('a token that does not see who may bypass a ruleset is refused, and the permission it needs is named', async () => {
  const { answers, main } = settings();
  delete main.bypass_actors;
  const { status, said } = await compare(answers);
  expect(said).toContain('it needs Administration (write)');
  expect(status).toBe(1);
});

test.concurrent('a ruleset file without the id of an App is never accepted, and the message says where to write it', async ({
  onTestFinished,
}) => {
  const { answers, versionTags: ruleset } = settings();
  existing(ruleset.bypass_actors?.[0]).actor_id = 0;
  const placeholder = folderWithApp(0);
  onTestFinished(() => rmSync(placeholder, { recursive: true }));

  const { status, said } = await compare(answers, placeholder);

  expect(said).toContain(`${versionTags}: actor_id is 0. Write the App ID of the App of the release there`);
  expect(status).toBe(1);
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toMatch(/`gh api apps\/\S+ --jq \.id`/);
});

test.concurrent('a setting that GitHub does not show is an error, and the permissions that the token needs are named', async () => {
  const { '/immutable-releases': _, ...answers } = asInFiles();
  const { status, said } = await compare(answers);
  expect(said).toMatch(/GET .*\/immutable-releases gave 404: the token needs Administration \(write\)/);
  expect(status).toBe(1);
});

test('only the App of the release creates and moves version tags, and nobody moves or deletes the tag of a release', () => {
  const versions = existing(rulesets.get('version-tags.json'));
  const releases = existing(rulesets.get('release-tags.json'));
  expect(versions).toMatchObject({
    target: 'tag',
    enforcement: 'active',
    bypass_actors: [{ actor_id: expect.any(Number), actor_type: 'Integration', bypass_mode: 'always' }],
    conditions: { ref_name: { include: ['refs/tags/v*'], exclude: [] } },
  });
  expect(types(versions)).toEqual(['creation', 'deletion', 'update']);
  expect(releases).toMatchObject({
    target: 'tag',
    enforcement: 'active',
    bypass_actors: [],
    conditions: { ref_name: { include: ['refs/tags/v*.*.*'], exclude: [] } },
  });
  expect(types(releases)).toEqual(['deletion', 'update']);
});

test('main changes only by a pull request that two people approved and all checks passed, without exception', () => {
  const main = existing(rulesets.get('main.json'));
  expect(main).toMatchObject({
    target: 'branch',
    enforcement: 'active',
    bypass_actors: [],
    conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
  });
  expect(types(main)).toEqual([
    'code_scanning',
    'deletion',
    'non_fast_forward',
    'pull_request',
    'required_status_checks',
  ]);
  expect(parametersOf(main, 'pull_request')).toMatchObject({
    // A stolen token can approve what the attacker proposes from an account without rights, or pushes to a branch of a bot.
    required_approving_review_count: 2,
    require_code_owner_review: true,
    require_last_push_approval: true,
    dismiss_stale_reviews_on_push: true,
  });
  // 15368 is GitHub Actions: no other App and no person can report the check.
  expect(parametersOf(main, 'required_status_checks').required_status_checks).toEqual(
    ['CI', 'Dependency review'].map((context) => ({ context, integration_id: 15368 })),
  );
  // A later line could name other owners of a file, or none.
  const owners = readFileSync('.github/CODEOWNERS', 'utf8').trimEnd().split('\n');
  expect(owners.filter((line) => !line.startsWith('#'))).toEqual(['* @org/ctl-action']);
});

test('no branch can have the name of a version tag', () => {
  const branches = existing(rulesets.get('version-branches.json'));
  expect(branches).toMatchObject({ target: 'branch', enforcement: 'active', bypass_actors: [] });
  expect(types(branches)).toEqual(['creation', 'update']);
  const patterns = branches.conditions.ref_name.include.map(
    (pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`),
  );
  for (const name of ['v1', 'v10', 'v1.2', 'v1.2.3', 'v10.20.30']) {
    expect(patterns.some((pattern) => pattern.test(`refs/heads/${name}`))).toBe(true);
  }
});

function types(ruleset: Ruleset): string[] {
  return ruleset.rules.map(({ type }) => type).sort();
}
