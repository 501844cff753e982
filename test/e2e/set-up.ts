import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { actFile, actFolder, actionFolder, actModule } from './places.js';

export default function setUp(): void {
  if (!existsSync(actFile)) buildAct();
  rmSync(actionFolder, { recursive: true, force: true });
  for (const part of ['action.yml', 'dist']) cpSync(part, join(actionFolder, part), { recursive: true });
}

function buildAct(): void {
  mkdirSync(actFolder, { recursive: true });
  console.log(`Building ${actModule}, once; this takes a minute or two.`);
  try {
    execFileSync('go', ['install', actModule], { stdio: 'inherit', env: { ...process.env, GOBIN: actFolder } });
  } catch (cause) {
    const advice = isMissing(cause)
      ? 'There is no Go here: install it (https://go.dev/doc/install, 1.24 or newer)'
      : 'See what Go said above';
    throw new Error(`${advice}. npm run e2e builds ${actModule} with it, a runner of workflows.`, { cause });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
