import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestContext } from 'vitest';
import { jobMessage } from './message.js';
import { actionArchive, binOf, findWorker, nodes } from './places.js';
import type { JobPlan } from './plan.js';
import { type JobResult, resultOf } from './result.js';
import { startServices } from './services.js';

export interface JobHandle {
  readonly done: Promise<JobResult>;
  /** Waits for an event of the test; a job that ends before it fails the test at once. */
  reach<T>(event: Promise<T>): Promise<T>;
  /** As by the button on the page of the run. */
  cancel(): void;
  /** The runner itself is shut down, as where its machine is taken away. */
  shutDown(): void;
  /** Kills the process of the action's step as soon as it runs. */
  kill(entry: 'main' | 'post'): Promise<void>;
}

const limitMs = 170_000;
const messageType = { job: 1, cancel: 2, shutDown: 3 };

/** Runs one job in a worker of its own, in a folder of its own, against services of its own. */
export async function startJob({ onTestFinished, onTestFailed }: TestContext, plan: JobPlan): Promise<JobHandle> {
  const services = await startServices(readFileSync(actionArchive));
  onTestFinished(() => services.close());
  const folder = makeFolder(services.url, plan.files);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  onTestFailed(() => console.log(resultOf(services.reports).log));

  const worker = spawn(join(folder, 'bin/Runner.Worker'), ['spawnclient', '3', '4'], {
    cwd: folder,
    // The worker gets no settings or secrets of the developer. A job takes 2 s, so .NET's profiling costs more than it saves.
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      TMPDIR: folder,
      DOTNET_EnableDiagnostics: '0',
      DOTNET_TieredPGO: '0',
      ...plan.runnerEnv,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
    // A group of its own, so that its steps end with it.
    detached: true,
  });
  const ended = new Promise<void>((resolve, reject) => worker.once('error', reject).once('exit', () => resolve()));
  const end = () => killGroup(worker);
  process.once('exit', end);
  onTestFinished(() => {
    process.off('exit', end);
    end();
    return ended;
  });
  const channel = worker.stdio[3] as Writable;
  // A worker that has ended reads nothing more; its result says what came of the job.
  channel.on('error', () => undefined);
  const tooLong = setTimeout(end, limitMs);
  send(channel, messageType.job, JSON.stringify(jobMessage(plan, services.url)));
  const done = ended.then(() => {
    clearTimeout(tooLong);
    return resultOf(services.reports);
  });
  return {
    done,
    reach: (event) =>
      Promise.race([
        event,
        done.then(() => Promise.reject(new Error('The job ended before what the test waits for.'))),
      ]),
    cancel: () => send(channel, messageType.cancel),
    shutDown: () => send(channel, messageType.shutDown),
    kill: async (entry) => {
      while (worker.exitCode === null && worker.signalCode === null) {
        const pid = findProcess(folder, entry);
        if (pid !== undefined) return void process.kill(pid, 'SIGKILL');
        await pause(10);
      }
      throw new Error(`The job ended, and no process of ${entry} was seen.`);
    },
  };
}

function makeFolder(url: string, files: JobPlan['files'] = {}): string {
  const source = findWorker(process.env);
  const folder = mkdtempSync(join(source.home, 'job-'));
  // The worker takes the folder above its own for the root: a symbolic link would lead it back.
  execFileSync('cp', ['-al', binOf(source), folder]);
  mkdirSync(join(folder, 'externals'));
  for (const [name, node] of Object.entries(nodes)) symlinkSync(node, join(folder, 'externals', name));
  const settings = {
    AgentId: 1,
    AgentName: 'test',
    PoolId: 1,
    PoolName: 'Default',
    ServerUrl: url,
    GitHubUrl: 'https://github.com/acme/shop',
    WorkFolder: '_work',
  };
  writeFileSync(join(folder, '.runner'), JSON.stringify(settings));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, '_work/shop/shop', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  }
  return folder;
}

/** Type and length as little-endian integers, then the text. */
function send(channel: Writable, type: number, text = ''): void {
  const body = Buffer.from(text, 'utf16le');
  const head = Buffer.alloc(8);
  head.writeInt32LE(type, 0);
  head.writeInt32LE(body.length, 4);
  channel.write(Buffer.concat([head, body]));
}

/** The Node that runs this file of the action for the job in this folder. */
function findProcess(folder: string, entry: string): number | undefined {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    const command = commandOf(pid);
    return command.includes(join(folder, '_work/_actions/')) && command.endsWith(`dist/${entry}/index.js\0`);
  });
  return found === undefined ? undefined : Number(found);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has just ended.
    return '';
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
