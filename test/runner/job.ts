import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Masker } from './masker.js';

const PREFIX = 'action-runner-';
const open = new Set<string>();

/** Shared by the steps of one job: folders, masks, and variables and paths for later steps. */
export class Job {
  readonly root: string;
  readonly temp: string;
  readonly workspace: string;
  readonly masker = new Masker();
  /** From GITHUB_ENV, and from GITHUB_PATH, the newest first. */
  readonly env: Record<string, string> = {};
  readonly path: string[] = [];

  constructor() {
    if (open.size === 0) sweep();
    this.root = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
    open.add(this.root);
    this.temp = join(this.root, 'temp');
    this.workspace = join(this.root, 'workspace');
    mkdirSync(this.temp);
    mkdirSync(this.workspace);
  }

  dispose(): void {
    open.delete(this.root);
    rmSync(this.root, { recursive: true, force: true });
  }
}

process.on('exit', () => {
  for (const root of open) rmSync(root, { recursive: true, force: true });
});

/** Removes the folders of ended processes. A process that a signal ended, as a test pool does, could not remove its own. */
export function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || pid === process.pid || isAlive(pid)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another process sweeps it at this moment, or it is another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
