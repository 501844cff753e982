import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export type Stream = 'stdout' | 'stderr';

export interface ChildOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onData: (stream: Stream, chunk: Buffer) => void;
}

export interface StepProcess {
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly hasExited: boolean;
  kill(signal: NodeJS.Signals): void;
  /** From then on, the process cannot write to its stdout. */
  closeStdout?(): Promise<void>;
}

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function startChild({ file, args, cwd, env, onData }: ChildOptions): StepProcess {
  const child = spawn(file, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  running.add(child);
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => onData(stream, chunk));
  const ended = once(child, 'close').then(([exitCode, signal]) => {
    running.delete(child);
    return { exitCode, signal };
  });
  return {
    ended,
    get hasExited() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    kill: (signal) => void child.kill(signal),
    closeStdout: async () => {
      const closed = once(child.stdout, 'close');
      child.stdout.destroy();
      await closed;
    },
  };
}
