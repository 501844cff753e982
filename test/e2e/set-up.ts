import { spawnSync } from 'node:child_process';
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
  const { error, status } = spawnSync('go', ['install', actModule], {
    stdio: 'inherit',
    env: { ...process.env, GOBIN: actFolder },
  });
  if (error) throw new Error(`npm run e2e builds act with Go, and cannot: ${error.message}. ${goAdvice}`);
  if (status !== 0) throw new Error(`Go could not build ${actModule}; it says above why not.`);
}

const goAdvice = 'Install Go 1.24 or newer, from https://go.dev/doc/install or as a package of your system.';
