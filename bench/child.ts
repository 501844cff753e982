import { spawn } from 'node:child_process';

/** Milliseconds from the start of a script to its exit. */
export async function toExit(script: string, env: Readonly<Record<string, string>> = {}): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [script], { env, stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return performance.now() - began;
}
