import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const version = 'v0.2.87';
/** As `go install` takes it. Its checksum database vouches for the code, as the version does for what act does. */
const actModule = `github.com/nektos/act@${version}`;
const actFolder = resolve('.cache', `act-${version}`);
export const actFile = join(actFolder, 'act');

/** A copy of what a runner would load of the action, without the rest of the checkout. */
export const actionFolder = resolve('build', 'e2e-action');

export default function setUp(): void {
  if (!existsSync(actFile)) buildAct();
  rmSync(actionFolder, { recursive: true, force: true });
  for (const part of ['action.yml', 'dist']) cpSync(part, join(actionFolder, part), { recursive: true });
}

function buildAct(): void {
  mkdirSync(actFolder, { recursive: true });
  console.log(`Building ${actModule}, once; this takes a minute or two.`);
  const env = { ...process.env, GOBIN: actFolder };
  const { error, status } = spawnSync('go', ['install', actModule], { stdio: 'inherit', env });
  const advice = 'Install Go 1.24 or newer, from https://go.dev/doc/install or as a package of your system.';
  if (error) throw new Error(`npm run e2e builds act with Go, and cannot: ${error.message}. ${advice}`);
  if (status !== 0) throw new Error(`Go could not build ${actModule}; it says above why not.`);
}
