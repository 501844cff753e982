import type { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { LineSplitter } from './line-splitter.js';

export type Stream = 'stdout' | 'stderr';

export interface Line {
  readonly stream: Stream;
  /** As printed: before masks, commands included. */
  readonly text: string;
  /** Since the start of the process. */
  readonly ms: number;
}

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
  readonly onLine: (line: Line) => void;
}

/** A process that ended but left its pipes to another one is not waited for longer than this. */
const PIPES_MS = 5000;

const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** One process: what it prints, in order of arrival, and how it ends. */
export class Child {
  readonly ended: Promise<ChildEnd>;
  /** Both streams as they arrived. */
  output = '';
  readonly bytes: Record<Stream, Buffer[]> = { stdout: [], stderr: [] };
  /** Signals that were sent, with the time since the start. */
  readonly signals: Array<{ readonly signal: NodeJS.Signals; readonly ms: number }> = [];
  readonly #process: ChildProcess;
  readonly #started = performance.now();

  constructor(options: ChildOptions) {
    const child = spawn(options.file, options.args, {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.#process = child;
    running.add(child);
    const splitters: LineSplitter[] = [];
    for (const stream of ['stdout', 'stderr'] as const) {
      const lines = new LineSplitter((text) => options.onLine({ stream, text, ms: this.#elapsed() }));
      splitters.push(lines);
      child[stream].on('data', (chunk: Buffer) => {
        this.bytes[stream].push(chunk);
        this.output += lines.write(chunk);
      });
    }
    this.ended = new Promise((resolve, reject) => {
      let ms = 0;
      let pipes: NodeJS.Timeout | undefined;
      child.once('error', (error) => {
        running.delete(child);
        reject(error);
      });
      child.once('exit', () => {
        ms = this.#elapsed();
        running.delete(child);
        pipes = setTimeout(() => {
          child.stdout.destroy();
          child.stderr.destroy();
        }, PIPES_MS);
      });
      child.once('close', (exitCode, signal) => {
        running.delete(child);
        clearTimeout(pipes);
        for (const lines of splitters) this.output += lines.end();
        resolve({ exitCode, signal, ms });
      });
    });
  }

  get hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #elapsed(): number {
    return performance.now() - this.#started;
  }

  kill(signal: NodeJS.Signals): void {
    if (this.hasExited) return;
    this.signals.push({ signal, ms: this.#elapsed() });
    this.#process.kill(signal);
  }
}
