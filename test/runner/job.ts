import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Masker } from './masker.js';

/** Shared by the steps of one job: folders, masks, and variables for later steps. */
export class Job {
  readonly root = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  readonly temp = join(this.root, 'temp');
  readonly workspace = join(this.root, 'workspace');
  readonly masker = new Masker();
  /** From GITHUB_ENV. */
  readonly env: Record<string, string> = {};

  constructor() {
    for (const folder of [this.temp, this.workspace]) mkdirSync(folder);
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
