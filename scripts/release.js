// Our own steps of a release. Each fails if one of its conditions does not hold:
//
//   verify VERSION        checks that package.json and CHANGELOG.md have the version, on a clean commit of main, and that
//                         the tag of the version is free or already at this commit
//   pack VERSION FOLDER   verifies, then writes into the folder: notes.md, the archive in assets/, and checksums.txt of the
//                         archive and of the files that a runner reads; needs no installed packages
//   create-tag VERSION    verifies, then creates the tag of the version on the remote
//   move-major VERSION    verifies, then moves v1 on the remote forward to the tag of the version
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that a runner reads. */
const filesOfRunner = ['action.yml', 'node24', 'dist'];

const [command, ...args] = process.argv.slice(2);
const commands = { verify, pack, 'create-tag': createTag, 'move-major': moveMajor };
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
  const found = JSON.parse(readFileSync('package.json', 'utf8')).version;
  if (found !== version) throw new Error(`package.json says ${found}, not ${version}`);
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
  const assets = join(folder, 'assets');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  // What a job downloads: .gitattributes says which files that are.
  const archive = `ctl-action-${version}.tar.gz`;
  const path = join(assets, archive);
  git('archive', '--format=tar.gz', `--prefix=ctl-action-${version}/`, `--output=${path}`, commit);
  // Most users run the files of the tag, not of the archive. So these are attested, too.
  const files = git('ls-files', '--', ...filesOfRunner).split('\n');
  const checksums = [checksum(path, archive), ...files.map((file) => checksum(file))];
  writeFileSync(join(folder, 'checksums.txt'), `${checksums.join('\n')}\n`);
  writeFileSync(join(folder, 'notes.md'), notesOf(version));
  console.log(`Packed ${path}.`);
}

/** A line in the format of sha256sum. */
function checksum(path, name = path) {
  return `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${name}`;
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
