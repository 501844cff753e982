import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Masker } from './masker.js';

/** Shared by the steps of one job: folders, masks, and variables for later steps. */
export class Job {
  /** The long form: on Windows, the temporary folder may be given in the short one, as `RUNNER~1`. */
  readonly root = realpathSync.native(mkdtempSync(join(tmpdir(), 'ctl-action-')));
  readonly temp = join(this.root, 'temp');
  readonly workspace = join(this.root, 'workspace');
  readonly masker = new Masker();
  readonly env: Record<string, string> = {};

  constructor() {
    for (const folder of [this.temp, this.workspace]) mkdirSync(folder);
  }

  dispose(): void {
    // On Windows, another program may hold a new file for a moment.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
