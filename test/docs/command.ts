import { spawn } from 'node:child_process';

export interface Command {
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Resolves when that is on stdout or stderr; rejects if the command ends before. */
  printed(text: string): Promise<void>;
  /** To the command and all that it started. */
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void;
}

/** Runs a line of a terminal. */
export function startCommand(line: string, temporary: string): Command {
  const { PATH } = process.env;
  const env = { PATH, HOME: temporary, TMPDIR: temporary };
  const child = spawn('bash', ['-c', line], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      for (const look of watchers) look();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return Object.assign(said, {
    ended,
    printed: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (said.stdout.includes(text) || said.stderr.includes(text)) resolve();
        };
        watchers.add(look);
        look();
        ended.then(() => reject(new Error(`It ended, and printed ${said.stdout}${said.stderr}`)));
      }),
    signal: (name: NodeJS.Signals) => {
      try {
        process.kill(-(child.pid ?? Number.NaN), name);
      } catch {
        // It has ended.
      }
    },
  });
}
