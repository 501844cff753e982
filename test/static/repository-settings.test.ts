import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { listen } from '../kit/listen.js';
import { runNode } from './run-node.js';

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const rulesets = '.github/rulesets';
const versionTagsFile = join(rulesets, 'version-tags.json');

/** GitHub's responses if all settings are as in the files; GitHub adds fields of its own, and lists rules in its own order. */
function asInFiles(appId: number) {
  const [main, releaseTags, versionBranches, versionTags] = readdirSync(rulesets)
    .sort()
    .map((file, index) => {
      const ruleset = readJson(join(rulesets, file));
      return { ...ruleset, id: index + 1, source: 'org/ctl-action', rules: ruleset.rules.reverse() };
    });
  versionTags.bypass_actors[0].actor_id = appId;
  const parameters = parametersOf(main, 'pull_request');
  parameters['required_reviewers'] = [];
  const all = [main, releaseTags, versionBranches, versionTags];
  const list: { id: number; name: string }[] = all.map(({ id, name }) => ({ id, name }));
  const settings = readJson('.github/settings.json');
  for (const value of Object.values<{ url?: string }>(settings)) value.url = 'https://example.com/';
  return { main, parameters, releaseTags, versionTags, all, list, settings };
}

function parametersOf({ rules }: { rules: { type: string; parameters: Record<string, unknown> }[] }, wanted: string) {
  return rules.find(({ type }) => type === wanted)?.parameters ?? {};
}

type Change = (github: ReturnType<typeof asInFiles>) => void;

/** Runs the script against a server that plays GitHub. The file of the ruleset holds the id of the App that makes releases. */
async function compare(context: TestContext, change: Change, appId = 12345) {
  const github = asInFiles(appId);
  change(github);
  const responses: Readonly<Record<string, unknown>> = {
    'rulesets?includes_parents=false&per_page=100': github.list,
    ...Object.fromEntries(github.all.map((ruleset) => [`rulesets/${ruleset.id}`, ruleset])),
    ...github.settings,
  };
  const server = createServer(({ headers, url = '' }, response) => {
    const body = responses[url.replace('/repos/org/ctl-action/', '')];
    const isFound = body !== undefined && headers.authorization === 'Bearer a-token';
    response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  const url = `http://127.0.0.1:${await listen(context, server)}`;

  const cwd = mkdtempSync(join(tmpdir(), 'repository-settings-'));
  context.onTestFinished(() => rmSync(cwd, { recursive: true }));
  cpSync('.github', join(cwd, '.github'), { recursive: true });
  const ruleset = readJson(versionTagsFile);
  ruleset.bypass_actors[0].actor_id = appId;
  writeFileSync(join(cwd, versionTagsFile), JSON.stringify(ruleset));

  const env = { ...process.env, GITHUB_API_URL: url, GH_TOKEN: 'a-token' };
  return runNode([resolve('scripts/repository-settings.js'), 'org/ctl-action'], { env, cwd });
}

test.concurrent('repository-settings.js accepts settings that match the files', async (context) => {
  const said = 'The settings of the repository are those of the files.\n';
  expect(await compare(context, () => {})).toEqual({ status: 0, said });
});

test.concurrent('repository-settings.js fails, and names each setting that differs', async (context) => {
  const actor = { actor_id: 5, actor_type: 'Integration', bypass_mode: 'always' };
  const { status, said } = await compare(context, ({ main, parameters, versionTags, releaseTags, list, settings }) => {
    main.enforcement = 'evaluate';
    main.bypass_actors.push({ ...actor, actor_type: 'RepositoryRole' });
    parameters['require_code_owner_review'] = false;
    releaseTags.rules.push({ type: 'required_signatures' });
    versionTags.bypass_actors.push(actor);
    versionTags.conditions.ref_name.exclude.push('refs/tags/v1');
    versionTags.rules.pop();
    list.splice(2, 1, { id: 99, name: 'more' });
    for (const name of ['release', 'settings']) settings[`environments/${name}`].can_admins_bypass = true;
    settings['environments/release'].protection_rules[0].prevent_self_review = false;
    settings['environments/release/deployment-branch-policies'].branch_policies.push({ name: '*', type: 'branch' });
    settings['immutable-releases'].enabled = false;
  });
  expect(said.trimEnd().split('\n')).toEqual(
    [
      /^ruleset “no branches named like versions”: expected 1, found 0$/,
      /^ruleset “main”: enforcement: the file has "active", GitHub has "evaluate"$/,
      /^ruleset “main”: bypass_actors: the file has \[\], GitHub has .*"RepositoryRole"/,
      /^ruleset “main”: rules: pull_request: .*require_code_owner_review: the file has true, GitHub has false$/,
      /^ruleset “release tags”: rules: required_signatures: the file has undefined, GitHub has/,
      /^ruleset “more”: no file describes it$/,
      /^ruleset “version tags”: bypass_actors: the file has .*12345.*, GitHub has .*12345.*"actor_id":5/,
      /^ruleset “version tags”: conditions: ref_name: exclude: the file has \[\], GitHub has \["refs\/tags\/v1"\]$/,
      /^ruleset “version tags”: rules: creation: the file has .*, GitHub has undefined$/,
      /^environments\/release: can_admins_bypass: the file has false, GitHub has true$/,
      /^environments\/release: protection_rules: the file has .*true.*, GitHub has .*false/,
      /^environments\/release\/deployment-branch-policies: branch_policies: the file has .*, GitHub has .*"\*"/,
      /^environments\/settings: can_admins_bypass: the file has false, GitHub has true$/,
      /^immutable-releases: enabled: the file has true, GitHub has false$/,
      /^repository-settings: 14 settings differ from the files$/,
    ].map((line) => expect.stringMatching(line)),
  );
  expect(status).toBe(1);
});

const noAccess = /it needs Administration \(write\)/;
const notShown = /GET .*\/immutable-releases gave 404: the token needs Administration \(write\)/;
const moreReviewers =
  /environments\/release: protection_rules: the file has .*"slug":"ctl-action".*, GitHub has .*"login":"somebody"/;
const addReviewer: Change = ({ settings }) =>
  settings['environments/release'].protection_rules[0].reviewers.push({
    type: 'User',
    reviewer: { login: 'somebody' },
  });
const noApp = /version-tags.json: actor_id is 0. Write the App ID of the App of the release there, see MAINTAINING.md/;
test.concurrent.for<[string, RegExp, Change, appId?: number]>([
  ['a token that cannot see who bypasses a ruleset', noAccess, ({ main }) => delete main.bypass_actors],
  ['a setting that GitHub does not show', notShown, ({ settings }) => delete settings['immutable-releases']],
  ['a reviewer of releases that the file does not name', moreReviewers, addReviewer],
  ['a ruleset file without the id of an App', noApp, () => {}, 0],
])('repository-settings.js fails on %s, and says why', async ([, message, change, appId], context) => {
  const { status, said } = await compare(context, change, appId);
  expect(said).toMatch(message);
  expect(status).toBe(1);
});

/** An active ruleset without exceptions. */
const strict = (target: 'branch' | 'tag', include: readonly string[], ...rules: readonly string[]) => ({
  target,
  enforcement: 'active',
  bypass_actors: [],
  conditions: { ref_name: { include, exclude: [] } },
  rules: rules.map((type) => ({ type })),
});

test('only the release App creates and moves version tags, and nobody moves or deletes the tag of a release', () => {
  expect(readJson(join(rulesets, 'version-tags.json'))).toEqual({
    ...strict('tag', ['refs/tags/v*'], 'creation', 'update', 'deletion'),
    name: 'version tags',
    bypass_actors: [{ actor_id: expect.any(Number), actor_type: 'Integration', bypass_mode: 'always' }],
  });
  const ofReleases = strict('tag', ['refs/tags/v*.*.*'], 'update', 'deletion');
  expect(readJson(join(rulesets, 'release-tags.json'))).toEqual({ ...ofReleases, name: 'release tags' });
});

test('main changes only by pull requests with two approvals and passed checks, without exception', () => {
  const main = readJson(join(rulesets, 'main.json'));
  const rules = ['deletion', 'non_fast_forward', 'pull_request', 'required_status_checks', 'code_scanning'];
  expect(main).toMatchObject(strict('branch', ['~DEFAULT_BRANCH'], ...rules));
  expect(parametersOf(main, 'pull_request')).toMatchObject({
    // A stolen token can approve what the attacker proposes from an account without rights, or pushes to a branch of a bot.
    required_approving_review_count: 2,
    require_code_owner_review: true,
    require_last_push_approval: true,
    dismiss_stale_reviews_on_push: true,
  });
  // 15368 is GitHub Actions: no other App and no person can report the check.
  expect(parametersOf(main, 'required_status_checks')['required_status_checks']).toEqual(
    ['CI', 'Dependency review'].map((context) => ({ context, integration_id: 15368 })),
  );
  // A later line could name other owners of a file, or none.
  const owners = readFileSync('.github/CODEOWNERS', 'utf8').trimEnd().split('\n');
  expect(owners.filter((line) => !line.startsWith('#'))).toEqual(['* @org/ctl-action']);
});

test('no branch can have the name of a version tag', () => {
  // v1 to v9, v10 to v99, and all with a dot, such as v1.2 and v1.2.3.
  const names = ['refs/heads/v?', 'refs/heads/v??', 'refs/heads/v*.*'];
  expect(readJson(join(rulesets, 'version-branches.json'))).toMatchObject(
    strict('branch', names, 'creation', 'update'),
  );
});
