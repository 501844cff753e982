import { Buffer } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cancel } from './cancel.js';
import { Child, type ChildEnd, type ChildOptions, type Line } from './child.js';
import type { Command } from './command.js';
import { type CommandFiles, createCommandFiles } from './command-files.js';
import { buildEnvironment, type Inputs } from './environment.js';
import { type FileEffects, takeFiles } from './file-effects.js';
import { Job } from './job.js';
import { loadManifest } from './manifest.js';
import { type Annotation, StepLog } from './step-log.js';

export interface StepOptions {
  /** `with:`. An input that is `undefined` is not given; an empty text is given, and gets no default. */
  readonly inputs?: Inputs | undefined;
  /** `env:` of the step. Unlike there, variables of the runner can be set too, and `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The value of `${{ github.token }}`. It is masked from the start, as are `secrets`. */
  readonly token?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly node?: string | undefined;
  readonly nodeArgs?: readonly string[] | undefined;
  /** Step debug logging: RUNNER_DEBUG=1, and debug lines in the log. */
  readonly debug?: boolean | undefined;
  /** Path of the action.yml; by default the project's. */
  readonly actionYml?: string | undefined;
  /** The process is killed after it, and the result says `overran`. */
  readonly limitMs?: number | undefined;
  /** The job of an earlier step, to run in its folders, with its masks and environment. */
  readonly job?: Job | undefined;
  /** Starts the process of the step. Default: a real one. */
  readonly spawn?: ((options: ChildOptions, part: 'main' | 'post') => StepProcess) | undefined;
}

export type StepProcess = Pick<Child, 'ended' | 'output' | 'bytes' | 'signals' | 'hasExited' | 'kill'>;

export interface StepResult extends ChildEnd, FileEffects {
  readonly conclusion: 'success' | 'failure' | 'cancelled';
  /** The step ran over its limit. In a test, that is a failure in any case. */
  readonly overran: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in order of arrival. */
  readonly output: string;
  readonly lines: readonly Line[];
  /** As a user sees it: masked, and commands carried out. */
  readonly log: string;
  readonly annotations: readonly Annotation[];
  readonly commands: readonly Command[];
  /** The values that the step had masked, in order. */
  readonly masks: readonly string[];
  readonly signals: Child['signals'];
  readonly files: CommandFiles;
  readonly options: StepOptions;
  readonly job: Job;
  readonly tempDir: string;
  /** A relative path is one from the workspace. */
  readFile(path: string): string;
  /** Removes the folders of the whole job. They go with the process at the latest. */
  dispose(): void;
}

export interface StepHandle {
  readonly job: Job;
  readonly done: Promise<StepResult>;
  kill(signal?: NodeJS.Signals): void;
  /** The runner's cancel sequence; its waits are multiplied by `scale`. */
  cancel(scale?: number): Promise<StepResult>;
  /** Waits for a line with this text in either stream. Rejects when the process ends without it. */
  waitForLine(part: string): Promise<void>;
}

/** The parts of a finished step that its post needs. */
export type Finished = Pick<StepResult, 'state'> & Partial<Pick<StepResult, 'job' | 'options'>>;

type Stage = 'main' | 'post';

const LIMIT_MS = 30_000;
const TOKEN = 'the-token-of-this-job';

export function startStep(options: StepOptions = {}): StepHandle {
  return start('main', options, {});
}

export async function runStep(options: StepOptions = {}): Promise<StepResult> {
  return startStep(options).done;
}

/** Runs `runs.post`. Options that are not given are those of main; `env` is laid over main's. */
export function startPost(from: Finished, options: StepOptions = {}): StepHandle {
  const env = { ...from.options?.env, ...options.env };
  return start('post', { job: from.job, ...from.options, ...options, env }, from.state);
}

export async function runPost(from: Finished, options: StepOptions = {}): Promise<StepResult> {
  return startPost(from, options).done;
}

function start(stage: Stage, given: StepOptions, state: Readonly<Record<string, string>>): StepHandle {
  const manifest = loadManifest(given.actionYml);
  const entry = resolve(manifest.directory, manifest[stage] ?? '');
  if (manifest[stage] === undefined || !existsSync(entry)) throw new Error(`the action has no ${stage} at ${entry}`);

  const job = given.job ?? new Job();
  const { inputs = {}, token = TOKEN, secrets = [], debug = false, env: own = {} } = given;
  for (const secret of [token, ...secrets]) job.masker.addWithLines(secret.trim());
  const files = createCommandFiles(job.temp);
  const { env, unexpected } = buildEnvironment({ manifest, job, files, inputs, state, token, debug, own });

  const log = new StepLog(job.masker, debug);
  if (unexpected.length > 0) {
    const [given, valid] = [unexpected, [...manifest.inputs.keys()]].map((names) => `'${names.join("', '")}'`);
    log.annotate('warning', `Unexpected input(s) ${given}, valid inputs are [${valid}]`, 'runner');
  }

  const lines: Line[] = [];
  const { spawn = (childOptions: ChildOptions) => new Child(childOptions) } = given;
  const onLine = (line: Line) => {
    log.take(line.text);
    lines.push(line);
  };
  const args = [...(given.nodeArgs ?? []), entry];
  const child = spawn({ file: given.node ?? process.execPath, args, cwd: job.workspace, env, onLine }, stage);

  let overran = false;
  let isOver = false;
  let cancelling: Promise<void> | undefined;
  const limit = setTimeout(() => {
    overran = true;
    child.kill('SIGKILL');
  }, given.limitMs ?? LIMIT_MS);
  const finish = async (): Promise<StepResult> => {
    const end = await child.ended.finally(() => {
      clearTimeout(limit);
      isOver = true;
    });
    const effects = takeFiles(files, log, job, stage);
    if (cancelling) log.annotate('error', 'The operation was canceled.', 'runner');
    return {
      ...end,
      ...effects,
      conclusion: cancelling ? 'cancelled' : end.exitCode !== 0 || log.failed ? 'failure' : 'success',
      overran,
      stdout: Buffer.concat(child.bytes.stdout).toString(),
      stderr: Buffer.concat(child.bytes.stderr).toString(),
      output: child.output,
      lines,
      log: log.lines.map((line) => `${line}\n`).join(''),
      annotations: log.annotations,
      commands: log.commands,
      masks: log.masks,
      signals: child.signals,
      files,
      options: { ...given, job },
      job,
      tempDir: job.root,
      readFile: (path) => readFileSync(resolve(job.workspace, path), 'utf8'),
      dispose: () => job.dispose(),
    };
  };
  const done = finish();
  return {
    job,
    done,
    kill: (signal = 'SIGKILL') => child.kill(signal),
    cancel: (scale = 1) => {
      if (!child.hasExited) cancelling ??= cancel(child, scale);
      return done;
    },
    waitForLine: async (part) => {
      while (!lines.some(({ text }) => text.includes(part))) {
        if (isOver) throw new Error(`the process ended without “${part}”; it printed:\n${child.output}`);
        await pause(10);
      }
    },
  };
}
