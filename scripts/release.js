// Our own steps of a release. Each fails if one of its conditions does not hold:
//
//   verify TAG            checks that tag, package.json, lock file and CHANGELOG.md agree, on a clean commit of main
//   pack TAG FOLDER       verifies, then writes notes.md, and the archive and the SBOM in assets/
//   move-major TAG        verifies, then moves v1 on the remote forward to the commit of the tag
//   rehearse              runs all steps for the current commit, in clones in a temporary folder
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [command, ...args] = process.argv.slice(2);
const commands = { verify, pack, 'move-major': moveMajor, rehearse };
try {
  if (!Object.hasOwn(commands, command)) throw new Error(`expected one of ${Object.keys(commands).join(', ')}`);
  commands[command](...args);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function verify(tag) {
  const version = /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
  if (version === undefined) throw new Error(`“${tag}” is no tag of a release, such as v1.2.3`);
  const lock = readJson('package-lock.json');
  for (const [place, found] of [
    ['package.json', readJson('package.json').version],
    ['package-lock.json', lock.version],
    ['package-lock.json, packages', lock.packages[''].version],
  ]) {
    if (found !== version) throw new Error(`${place} says ${found}, the tag ${version}`);
  }
  notesOf(version);
  const commit = git('rev-parse', 'HEAD');
  if (git('rev-parse', `refs/tags/${tag}^{commit}`) !== commit) throw new Error(`${tag} is not what is checked out`);
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`not as committed:\n${changed}`);
  if (!isAncestor(commit, 'refs/remotes/origin/main')) throw new Error(`${tag} is not on main`);
  console.log(`${tag} is ${commit}, on main, and ${version} everywhere.`);
}

function pack(tag, folder) {
  verify(tag);
  const { name, version } = readJson('package.json');
  const assets = join(folder, 'assets');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(folder, 'notes.md'), notesOf(version));
  writeFileSync(join(assets, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(name), null, 2)}\n`);
  // The archive has all files that a runner needs, for users whose runners cannot reach the repository.
  const archive = join(assets, `${name}-${version}.tar.gz`);
  const files = ['action.yml', 'node24', 'dist', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
  git('archive', '--format=tar.gz', `--prefix=${name}-${version}/`, `--output=${archive}`, tag, '--', ...files);
  console.log(`Packed ${archive} and its SBOM.`);
}

function moveMajor(tag) {
  verify(tag);
  const major = tag.slice(0, tag.indexOf('.'));
  const commit = git('rev-parse', 'HEAD');
  const before = git('ls-remote', 'origin', `refs/tags/${major}`).split('\t')[0];
  if (before === commit) return console.log(`${major} is at ${commit} already.`);
  // isAncestor is also false for a commit that was never fetched: someone else has moved the tag since then.
  if (before !== '' && !isAncestor(before, commit))
    throw new Error(`${major} is at ${before}, which ${tag} does not hold`);
  git('push', `--force-with-lease=refs/tags/${major}:${before}`, 'origin', `${commit}:refs/tags/${major}`);
  console.log(`${major} is at ${commit}, before ${before === '' ? 'nowhere' : `at ${before}`}.`);
}

function rehearse() {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const tag = `v${readJson('package.json').version}`;
    const [remote, clone, packed] = ['remote.git', 'clone', 'packed'].map((name) => join(folder, name));
    git('init', '--quiet', '--bare', '--initial-branch=main', remote);
    git('push', '--quiet', remote, 'HEAD:refs/heads/main');
    git('clone', '--quiet', remote, clone);
    dateChangelog(clone);
    git('-C', clone, 'tag', tag);
    git('-C', clone, 'push', '--quiet', 'origin', 'main', tag);
    for (const step of [
      ['verify', tag],
      ['pack', tag, packed],
      ['move-major', tag],
    ]) {
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...step], { cwd: clone, stdio: 'inherit' });
    }
    console.log(`\n${git('ls-remote', remote)}\n\n${readFileSync(join(packed, 'notes.md'), 'utf8')}`);
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
  git(
    '-C',
    clone,
    '-c',
    'user.name=rehearsal',
    '-c',
    'user.email=rehearsal@localhost',
    'commit',
    '--quiet',
    '--all',
    '--message=Date the release',
  );
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

function billOfMaterials(name) {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const bill = JSON.parse(
    execFileSync(npm, ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], {
      encoding: 'utf8',
    }),
  );
  // npm names the project after its folder.
  bill.metadata.component.name = name;
  // A stand-in for a package has version 0.0.0. The vulnerabilities of the real package do not apply to it.
  for (const component of bill.components) if (component.version === '0.0.0') delete component.purl;
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
