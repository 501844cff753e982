import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

export type Command = ReturnType<typeof startCommand>;

/** Runs a line of a terminal. */
export function startCommand(line: string, temporary: string) {
  const env = { PATH: process.env['PATH'], HOME: temporary, TMPDIR: temporary };
  const child = spawn('bash', ['-c', line], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const command = {
    stdout: '',
    stderr: '',
    hasEnded: false,
    /** Resolves with the exit code. */
    ended: new Promise<number | null>((resolve) => child.on('close', resolve)),
    /** Resolves when that is on stdout or stderr; rejects if the command ends before. */
    printed: async (text: string) => {
      while (!command.stdout.includes(text) && !command.stderr.includes(text)) {
        if (command.hasEnded) throw new Error(`It ended, and printed ${command.stdout}${command.stderr}`);
        await setTimeout(10);
      }
    },
    /** To the command and all that it started. */
    signal: (name: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => {
      try {
        process.kill(-(child.pid ?? Number.NaN), name);
      } catch {
        // It has ended.
      }
    },
  };
  child.on('close', () => {
    command.hasEnded = true;
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      command[stream] += text;
    });
  }
  return command;
}
