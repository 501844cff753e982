import type { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

export type Stream = 'stdout' | 'stderr';

export interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly ms: number;
}

export interface ChildOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onData: (stream: Stream, chunk: Buffer) => void;
}

/** A process that ended but left its pipes to another one is not waited for longer than this. */
const PIPES_MS = 5000;

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class Child {
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;

  constructor({ file, args, cwd, env, onData }: ChildOptions) {
    const startedAt = performance.now();
    const child = spawn(file, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    this.#process = child;
    running.add(child);
    const streams = ['stdout', 'stderr'] as const;
    for (const stream of streams) child[stream].on('data', (chunk: Buffer) => onData(stream, chunk));
    this.ended = new Promise((resolve, reject) => {
      let ms = 0;
      let pipes: NodeJS.Timeout | undefined;
      child.once('error', reject);
      child.once('exit', () => {
        ms = performance.now() - startedAt;
        pipes = setTimeout(() => {
          for (const stream of streams) child[stream].destroy();
        }, PIPES_MS);
      });
      child.once('close', (exitCode, signal) => {
        running.delete(child);
        clearTimeout(pipes);
        resolve({ exitCode, signal, ms });
      });
    });
  }

  get hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}
