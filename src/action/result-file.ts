import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../http/errors.js';
import { errorMessage } from '../text/sentences.js';
import type { PublishContext } from './step-report.js';

/** Writes a file that only its owner can read. `name`: of the output with its path. Returns the path. */
export function writeResultFile(name: string, json: () => string, { environment, mode }: PublishContext): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${name}-${randomUUID()}.json`);
  try {
    writeFileSync(path, json(), { flag: 'wx', mode: 0o600 });
    return path;
  } catch (error) {
    // On a full disk, a part of it may be there.
    rmSync(path, { force: true });
    const reason = (error as NodeJS.ErrnoException).code ?? errorMessage(error);
    throw new UserError(`Could not write ${name} to ${folder} (RUNNER_TEMP): ${reason}. Check the runner's disk.`);
  }
}
