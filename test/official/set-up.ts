import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { actionArchive, findWorker, nodes, type WorkerSource } from './places.js';

export default function setUp(): void {
  const worker = workerOrAdvice();
  if (!existsSync(worker.home)) {
    // Whole or not at all: an unpacking that was interrupted leaves nothing under the name.
    mkdirSync(dirname(worker.home), { recursive: true });
    const folder = mkdtempSync(`${worker.home}-`);
    if (worker.kind === 'archive') execFileSync('tar', ['-xf', worker.path, '-C', folder]);
    else execFileSync('cp', ['-a', join(worker.path, 'bin'), folder]);
    renameSync(folder, worker.home);
  }
  if (!Object.values(nodes).every((folder) => existsSync(folder))) {
    execFileSync('npm', ['ci', '--prefix', 'test/nodes'], { stdio: 'inherit' });
  }
  packAction();
}

/** Whoever has no worker yet needs the advice alone, not where in these files it was given. */
function workerOrAdvice(): WorkerSource {
  try {
    return findWorker(process.env);
  } catch (error) {
    console.error(String(error));
    process.exit(1);
  }
}

/** With one folder at the top. */
function packAction(): void {
  rmSync(actionArchive, { force: true });
  mkdirSync(dirname(actionArchive), { recursive: true });
  const files = ['action.yml', 'node24', 'dist'];
  execFileSync('tar', ['-czf', actionArchive, '--transform', 's,^,ctl-action/,', ...files]);
}
