// Checks the workflows of this repository and the examples with actionlint, shellcheck and zizmor. The first run installs
// pinned versions into .cache. With GH_TOKEN zizmor also asks GitHub: does each pinned commit belong to its repository and to
// the version in the comment, and has that version a known vulnerability?
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const pinned = 'scripts/workflow-tools';
const pins = ['go.sum', 'requirements.txt']
  .reduce((hash, file) => hash.update(readFileSync(join(pinned, file))), createHash('sha256'))
  .digest('hex')
  .slice(0, 16);
const tools = resolve('.cache', `workflow-tools-${pins}`);

if (!existsSync(join(tools, 'whole'))) install();

// actionlint checks inputs only of an action in the same repository. So the examples become workflows that use `./`.
const stage = resolve('build/workflows');
rmSync(stage, { recursive: true, force: true });
mkdirSync(join(stage, '.git'), { recursive: true });
for (const path of ['action.yml', 'node24', 'dist', '.github']) cpSync(path, join(stage, path), { recursive: true });
const examples = readdirSync('examples').filter((file) => file.endsWith('.yml'));
for (const name of examples) {
  const example = readFileSync(join('examples', name), 'utf8');
  const text = example.replaceAll('uses: org/ctl-action@v1', 'uses: ./');
  writeFileSync(join(stage, '.github/workflows', name), text, { flag: 'wx' });
}
run(join(tools, 'actionlint'), ['-shellcheck', join(tools, 'bin/shellcheck'), '-pyflakes', ''], { cwd: stage });
const audited = ['.github', 'action.yml', 'node24/action.yml', ...examples.map((name) => join('examples', name))];
const { GH_TOKEN, ...offline } = process.env;
const audit = ['--config', '.github/zizmor.yml', '--persona', 'pedantic', '--quiet', ...audited];
// zizmor takes the token from GH_TOKEN, and rejects an empty token.
if (GH_TOKEN) run(join(tools, 'bin/zizmor'), audit);
else run(join(tools, 'bin/zizmor'), ['--offline', ...audit], { env: offline });

function install() {
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools, { recursive: true });
  const inPins = { cwd: pinned, env: { ...process.env, GOBIN: tools } };
  // The go command compares all modules with the hashes in go.sum.
  const actionlint = ['install', '-mod=readonly', 'github.com/rhysd/actionlint/cmd/actionlint'];
  run('go', actionlint, inPins, 'Install Go (go.dev), 1.25 or newer.');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  run(
    'python3',
    [...pip, '--require-hashes', '--target', tools, '--requirement', join(pinned, 'requirements.txt')],
    {},
    'Install Python (python.org), 3.10 or newer, with pip.',
  );
  writeFileSync(join(tools, 'whole'), '');
}

function run(command, args, options = {}, missing = '') {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status === 0) return;
  if (error) console.error(`${command}: ${error.message}. ${missing}`);
  process.exit(1);
}
