import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ChildOptions, type StepProcess, type Stream, startChild } from './child.js';
import { createCommandFiles, takeFiles } from './command-files.js';
import { buildEnvironment, loadManifest } from './environment.js';
import { Job } from './job.js';
import { StepLog } from './step-log.js';

export interface StepOptions {
  /** `with:`. An input that is `undefined` is not given; an empty text is given, and gets no default. */
  readonly inputs?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** `env:` of the step. Unlike there, variables of the runner can be set too, and `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The value of `${{ github.token }}`. It is masked from the start, as are `secrets`. */
  readonly token?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly node?: string | undefined;
  readonly nodeArgs?: readonly string[] | undefined;
  /** Step debug logging: RUNNER_DEBUG=1. The log has no debug lines even so. */
  readonly debug?: boolean | undefined;
  /** Path of the action.yml; by default the project's. */
  readonly actionYml?: string | undefined;
  /** The process is killed after it, and the result says `overran`. */
  readonly limitMs?: number | undefined;
  /** The job of an earlier step, to run in its folders, with its masks and environment. */
  readonly job?: Job | undefined;
  /** Starts the process of the step. Default: a real one. */
  readonly spawn?: ((options: ChildOptions, part: 'main' | 'post') => StepProcess) | undefined;
  /** The clock of that process, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

export type StepHandle = ReturnType<typeof start>;
export type StepResult = Awaited<StepHandle['done']>;

type Stage = 'main' | 'post';

export const startStep = (options: StepOptions = {}) => start('main', options, {});

/** Runs `runs.post`. Options that are not given are those of main; `env` is laid over main's. */
export function startPost({ options: main, state }: StepResult, options: StepOptions = {}) {
  return start('post', { ...main, ...options, env: { ...main.env, ...options.env } }, state);
}

function start(stage: Stage, given: StepOptions, state: Readonly<Record<string, string>>) {
  const manifest = loadManifest(given.actionYml);
  const entry = resolve(manifest.directory, manifest[stage] ?? '');
  if (manifest[stage] === undefined || !existsSync(entry)) throw new Error(`the action has no ${stage} at ${entry}`);
  const job = given.job ?? new Job();
  const { token = 'the-token-of-this-job', secrets = [] } = given;
  for (const secret of [token, ...secrets]) job.masker.add(secret.trim());
  const files = createCommandFiles(job.temp);
  const { env, unexpected } = buildEnvironment({ ...given, token, manifest, job, files, state });
  const log = new StepLog(job.masker);
  if (unexpected.length > 0) {
    const [given, valid] = [unexpected, [...manifest.inputs.keys()]].map((names) => `'${names.join("', '")}'`);
    log.annotate('warning', `Unexpected input(s) ${given}, valid inputs are [${valid}]`, 'runner');
  }
  const { now = () => performance.now() } = given;
  const startedAt = now();
  const elapsed = () => now() - startedAt;
  const chunks: Record<Stream, Buffer[]> = { stdout: [], stderr: [] };
  const onData: ChildOptions['onData'] = (stream, chunk) => void chunks[stream].push(chunk);
  const { spawn = startChild, node = process.execPath, nodeArgs = [] } = given;
  const child = spawn({ file: node, args: [...nodeArgs, entry], cwd: job.workspace, env, onData }, stage);
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    if (!child.hasExited) child.kill(signal);
  };
  let overran = false;
  let isCancelled = false;
  const limit = setTimeout(() => {
    overran = true;
    kill();
  }, given.limitMs ?? 30_000);
  const finish = async () => {
    const end = await child.ended.finally(() => clearTimeout(limit));
    const ms = elapsed();
    const textOf = (stream: Stream) => Buffer.concat(chunks[stream]).toString();
    const [stdout, stderr] = [textOf('stdout'), textOf('stderr')];
    const lines = [...linesOf(stdout), ...linesOf(stderr)];
    for (const line of lines) log.take(line);
    const { annotations, commands, masks } = log;
    const effects = takeFiles(files, log, stage);
    let conclusion: 'success' | 'failure' | 'cancelled' = end.exitCode !== 0 || log.failed ? 'failure' : 'success';
    if (isCancelled) {
      conclusion = 'cancelled';
      log.annotate('error', 'The operation was canceled.', 'runner');
    }
    return {
      ...end,
      ...effects,
      conclusion,
      ms,
      /** The step ran over its limit. In a test, that is a failure in any case. */
      overran,
      stdout,
      stderr,
      output: stdout + stderr,
      /** As printed, before masks, commands included. */
      lines,
      /** As a user sees it: masked, and commands carried out. */
      log: log.lines.map((line) => `${line}\n`).join(''),
      annotations,
      commands,
      masks,
      files,
      options: { ...given, job },
      job,
      /** A relative path is one from the workspace. */
      readFile: (path: string) => readFileSync(resolve(job.workspace, path), 'utf8'),
    };
  };
  const done = finish();
  return {
    job,
    done,
    kill,
    closeStdout: () => {
      if (child.closeStdout === undefined) throw new Error('closeStdout needs `overSockets`.');
      return child.closeStdout();
    },
    /** As the runner does at first. A step that does not end by itself then runs over its limit. */
    cancel: () => {
      isCancelled ||= !child.hasExited;
      kill('SIGINT');
      return done;
    },
    /** Waits for an event of the test. A step that ends before it fails the test at once, with its output. */
    reach: async <T>(event: Promise<T>): Promise<T> => {
      const tooEarly = done.then(({ output }) => {
        throw new Error(`the step ended too early; its output:\n${output}`);
      });
      tooEarly.catch(() => {});
      return Promise.race([event, tooEarly]);
    },
  };
}

/** A lone carriage return ends a line, too. A first BOM is dropped. */
function linesOf(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
