import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Job, sweep } from '../../runner/job.js';

test('folders of a process that is gone are swept, those of a living one are not', () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  const left = mkdtempSync(join(tmpdir(), `action-runner-${gone}-`));
  const own = new Job();
  onTestFinished(() => own.dispose());
  sweep();
  expect(existsSync(left)).toBe(false);
  expect(existsSync(own.temp)).toBe(true);
});
