import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Masker } from './masker.js';

const open = new Set<string>();

/** Shared by the steps of one job: folders, masks, and variables for later steps. */
export class Job {
  readonly root: string;
  readonly temp: string;
  readonly workspace: string;
  readonly masker = new Masker();
  /** From GITHUB_ENV. */
  readonly env: Record<string, string> = {};

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'ctl-action-'));
    open.add(this.root);
    this.temp = join(this.root, 'temp');
    this.workspace = join(this.root, 'workspace');
    for (const folder of [this.temp, this.workspace]) mkdirSync(folder);
  }

  dispose(): void {
    open.delete(this.root);
    rmSync(this.root, { recursive: true, force: true });
  }
}

process.on('exit', () => {
  for (const root of open) rmSync(root, { recursive: true, force: true });
});
