// Our own steps of a release. Each fails if one of its conditions does not hold:
//
//   verify VERSION        checks that package.json, lock file and CHANGELOG.md agree, on a clean commit of main, and that
//                         the tag of the version is free or already at this commit
//   pack VERSION FOLDER   verifies, then writes into the folder: notes.md, the archive and the SBOM in assets/, and
//                         checksums.txt of these and of the files that a runner reads; needs no installed packages
//   create-tag VERSION    verifies, then creates the tag of the version on the remote
//   move-major VERSION    verifies, then moves v1 on the remote forward to the tag of the version
//   rehearse              runs all steps for the current commit, in clones in a temporary folder, and says what GitHub does
//                         between them
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files that a runner reads. */
const filesOfRunner = ['action.yml', 'node24', 'dist'];

/** The work of the workflow between our own steps. */
const onGitHub = {
  'test: verify': 'GitHub then runs all tests, and compares dist with a fresh build.',
  'pack: pack': `GitHub then attests the assets and the files that a runner reads, and waits for the approval of the environment
“release”.`,
  'publish: pack': 'GitHub then compares these files with those that were attested, and verifies each attestation.',
  'publish: create-tag': `GitHub then publishes the release, compares its assets with those that were attested, and checks that nobody can
change it.`,
};

const [command, ...args] = process.argv.slice(2);
const commands = { verify, pack, 'create-tag': createTag, 'move-major': moveMajor, rehearse };
try {
  if (!Object.hasOwn(commands, command)) throw new Error(`expected one of ${Object.keys(commands).join(', ')}`);
  commands[command](...args);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

/** Returns the tag of the version and its commit. */
function verify(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`“${version}” is no version of a release, such as 1.2.3`);
  const lock = readJson('package-lock.json');
  for (const [place, found] of [
    ['package.json', readJson('package.json').version],
    ['package-lock.json', lock.version],
    ['package-lock.json, packages', lock.packages[''].version],
  ]) {
    if (found !== version) throw new Error(`${place} says ${found}, not ${version}`);
  }
  notesOf(version);
  const commit = git('rev-parse', 'HEAD');
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`not as committed:\n${changed}`);
  if (!isAncestor(commit, 'refs/remotes/origin/main')) throw new Error(`${commit} is not on main`);
  const tag = `v${version}`;
  const tagged = tagAtRemote(tag);
  if (tagged !== '' && tagged !== commit) throw new Error(`${tag} exists already, at ${tagged}`);
  console.log(`${commit} is on main, and ${version} everywhere.`);
  return { tag, commit, isTagged: tagged !== '' };
}

function pack(version, folder) {
  const { commit } = verify(version);
  const { name } = readJson('package.json');
  const assets = join(folder, 'assets');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(assets, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(name, commit), null, 2)}\n`);
  // The archive has all files that a runner needs, for users whose runners cannot reach the repository.
  const archive = join(assets, `${name}-${version}.tar.gz`);
  const files = [...filesOfRunner, 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
  git('archive', '--format=tar.gz', `--prefix=${name}-${version}/`, `--output=${archive}`, commit, '--', ...files);
  // Most users run the files of the tag, not of the archive. So the files of the tag are attested and listed too.
  const inTag = checksums(filesOfRunner);
  const inAssets = readdirSync(assets).map((name) => `${sha256(join(assets, name))}  ${name}`);
  writeFileSync(join(folder, 'checksums.txt'), [...inAssets, ...inTag, ''].join('\n'));
  const list = ['```text', ...inTag, '```'].join('\n');
  const heading = 'SHA-256 of the files that a runner reads, for `sha256sum --check` in a checkout of the tag:';
  writeFileSync(join(folder, 'notes.md'), `${notesOf(version)}\n### Checksums\n\n${heading}\n\n${list}\n`);
  console.log(`Packed ${archive} and its SBOM.`);
}

/** Returns the checksums of all committed files in these places, in the format of sha256sum. */
function checksums(places, cwd = '.') {
  const paths = git('-C', cwd, 'ls-files', '--', ...places).split('\n');
  return paths.map((path) => `${sha256(join(cwd, path))}  ${path}`);
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function createTag(version) {
  const { tag, commit, isTagged } = verify(version);
  if (isTagged) return console.log(`${tag} is at ${commit} already.`);
  pushTag(tag, '', commit);
  console.log(`${tag} is at ${commit}.`);
}

function moveMajor(version) {
  const { tag, commit, isTagged } = verify(version);
  if (!isTagged) throw new Error(`${tag} does not exist yet`);
  const major = tag.slice(0, tag.indexOf('.'));
  const before = tagAtRemote(major);
  if (before === commit) return console.log(`${major} is at ${commit} already.`);
  // isAncestor is also false for a commit that was not fetched because someone else has just moved the tag.
  if (before !== '' && !isAncestor(before, commit))
    throw new Error(`${major} is at ${before}, which ${tag} does not hold`);
  pushTag(major, before, commit);
  console.log(`${major} is at ${commit}, before ${before === '' ? 'nowhere' : `at ${before}`}.`);
}

/** Moves the tag on the remote. `before`: where it was, or an empty string. */
function pushTag(tag, before, commit) {
  // With a lease, the push fails if someone else has created or moved the tag in the meantime.
  git('push', `--force-with-lease=refs/tags/${tag}:${before}`, 'origin', `${commit}:refs/tags/${tag}`);
  const after = tagAtRemote(tag);
  if (after !== commit) throw new Error(`${tag} is at ${after || 'no commit'} after the push, not at ${commit}`);
}

/** Returns the object of the tag on the remote, or an empty string. */
function tagAtRemote(tag) {
  // git also lists a branch whose name ends with the ref, such as x/refs/tags/v1.
  const refs = git('ls-remote', 'origin', `refs/tags/${tag}`).split('\n');
  return refs.find((line) => line.endsWith(`\trefs/tags/${tag}`))?.split('\t')[0] ?? '';
}

function rehearse() {
  const ruleset = '.github/rulesets/version-tags.json';
  if (readJson(ruleset).bypass_actors.some(({ actor_id }) => actor_id === 0)) {
    console.log(`Before the first release: ${ruleset} still has 0 in place of the App ID (MAINTAINING.md).`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const { version } = readJson('package.json');
    const names = ['remote.git', 'clone', 'fresh', 'packed', 'again'];
    const [remote, clone, fresh, packed, again] = names.map((name) => join(folder, name));
    git('init', '--quiet', '--bare', '--initial-branch=main', remote);
    git('push', '--quiet', remote, 'HEAD:refs/heads/main');
    git('clone', '--quiet', remote, clone);
    dateChangelog(clone);
    git('-C', clone, 'push', '--quiet', 'origin', 'main');
    // As in the workflow, each job begins with a checkout of its own, and only the job that tests installs packages.
    git('clone', '--quiet', remote, fresh);
    for (const [cwd, job, step, ...more] of [
      [clone, 'test', 'verify', version],
      [fresh, 'pack', 'pack', version, packed],
      [clone, 'publish', 'pack', version, again],
      [clone, 'publish', 'create-tag', version],
      [clone, 'publish', 'move-major', version],
    ]) {
      console.log(`\n${job}: ${step}`);
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), step, ...more], { cwd, stdio: 'inherit' });
      const place = `${job}: ${step}`;
      if (place in onGitHub) console.log(onGitHub[place]);
    }
    const [first, second] = [packed, again].map((folder) => readFileSync(join(folder, 'checksums.txt'), 'utf8'));
    if (first !== second) throw new Error(`packing again gave other files:\n${first}\n${second}`);
    git('-C', fresh, 'fetch', '--quiet', 'origin', `refs/tags/v${version}`);
    git('-C', fresh, 'checkout', '--quiet', 'FETCH_HEAD');
    const notes = readFileSync(join(packed, 'notes.md'), 'utf8');
    const wrong = checksums(filesOfRunner, fresh).filter((line) => !notes.includes(line));
    if (wrong.length > 0) throw new Error(`the notes do not have the checksums of the tag:\n${wrong.join('\n')}`);
    console.log(`\n${git('ls-remote', remote)}\n\n${notes}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An entry gets its date on the day of its release. A rehearsal uses today's date. */
function dateChangelog(clone) {
  const file = join(clone, 'CHANGELOG.md');
  const text = readFileSync(file, 'utf8');
  const dated = text.replace(/^## (\[\d[^\]]*\])$/m, `## $1 - ${new Date().toISOString().slice(0, 10)}`);
  if (dated === text) return;
  writeFileSync(file, dated);
  const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@localhost'];
  git('-C', clone, ...author, 'commit', '--quiet', '--all', '--message=Date the release');
}

/** The text of CHANGELOG.md below the heading of the version. */
function notesOf(version) {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  const [heading = '', ...lines] = sections.find((text) => text.startsWith(`[${version}]`))?.split('\n') ?? [];
  const notes = lines
    .filter((line) => !/^\[[^\]]+\]: /.test(line))
    .join('\n')
    .trim();
  if (!/ - \d{4}-\d\d-\d\d$/.test(heading) || notes === '') {
    throw new Error(`CHANGELOG.md has no dated entry of ${version}`);
  }
  return `${notes}\n`;
}

function billOfMaterials(name, commit) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const bill = JSON.parse(
    execFileSync(npm, ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], {
      encoding: 'utf8',
    }),
  );
  // Packing the same commit again must give the same files, but npm writes a random number and the time.
  bill.serialNumber = commit.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, 'urn:uuid:$1-$2-8$3-8$4-$5');
  bill.metadata.timestamp = git('show', '--no-patch', '--format=%cI', commit);
  // npm names the project after its folder.
  bill.metadata.component.name = name;
  // The stand-ins are our own code, not packages.
  const standIns = readdirSync('vendor', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readJson(join('vendor', entry.name, 'package.json')))
    .map((standIn) => `${standIn.name}@${standIn.version}`);
  const isOther = (ref) => !standIns.includes(ref);
  bill.components = bill.components.filter((component) => isOther(component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => isOther(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isOther) }));
  return bill;
}

function isAncestor(commit, of) {
  try {
    git('merge-base', '--is-ancestor', commit, of);
    return true;
  } catch {
    return false;
  }
}

function git(...words) {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
