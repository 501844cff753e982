import { appendFileSync } from 'node:fs';
import type { Toolkit } from '../../src/action/toolkit.js';
import { nothingToRevoke, postStateName } from '../../src/keys/post-state-name.js';
import { PostStep } from '../../src/post-step.js';
import type { Work } from '../../src/process.js';
import { reportError, runStep } from '../../src/step.js';
import type { ChildOptions, StepProcess } from '../runner/child.js';
import { startVirtualProcess, type VirtualProcessOptions } from './virtual-process.js';
import type { FakeWorkflowRuns } from './workflow-runs.js';

type Host = Omit<VirtualProcessOptions, 'work' | 'toolkit' | 'environment' | 'limitMs'> & { runs: FakeWorkflowRuns };

/** Runs main or post in this process and in virtual time. What it prints and writes reaches the runner as from a process. */
export function spawnVirtual(
  { env, onData }: Pick<ChildOptions, 'env' | 'onData'>,
  part: 'main' | 'post',
  { runs, ...host }: Host,
): StepProcess {
  const running = startVirtualProcess({
    ...host,
    work: part === 'main' ? mainWork(runs) : postWork(env),
    toolkit: createToolkit(env, (text) => onData('stdout', Buffer.from(`${text}\n`))),
    environment: env,
    limitMs: 25 * 86_400_000,
  });
  const ended = host.clock.run(running.ended).then((exit) => {
    if (exit === 'hung') throw new Error('The step does not end.');
    return exit === 'killed' ? { exitCode: null, signal: 'SIGKILL' as const } : { exitCode: exit, signal: null };
  });
  return {
    ended,
    get hasExited() {
      return running.isOver;
    },
    kill: (signal) => (signal === 'SIGKILL' ? running.kill() : running.signal()),
  };
}

export function mainWork(runs: FakeWorkflowRuns): Work {
  const run: Work['run'] = (world) => runStep(world, async () => () => runs.find);
  return { run, reportError };
}

export function postWork(env: ChildOptions['env']): Work {
  const saved = env[`STATE_${postStateName}`] ?? '';
  const step = new PostStep();
  return {
    run: (world) => (saved === '' || saved === nothingToRevoke ? Promise.resolve(true) : step.run(world)),
    reportError: (error, world) => step.reportError(error, world),
  };
}

/** Writes as `@actions/core` does, to the streams and files of this step alone. */
function createToolkit(env: ChildOptions['env'], print: (text: string) => void): Toolkit {
  const command = (name: string, data: string, properties = '') =>
    print(`::${name}${properties}::${data.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`);
  const write = (variable: string, text: string) => appendFileSync(env[variable] ?? '', text);
  // Without a file, `@actions/core` prints the command of older runners.
  const pair = (variable: string, legacy: string, name: string, value: string) =>
    env[variable]
      ? write(variable, `${name}<<ghadelimiter_of_test\n${value}\nghadelimiter_of_test\n`)
      : command(legacy, value, ` name=${name}`);
  const visible = (name: string) => (message: string) => command(name, message);
  return {
    input: (name) => (env[`INPUT_${name.toUpperCase()}`] ?? '').trim(),
    mask: (secret) => command('add-mask', secret),
    info: print,
    notice: visible('notice'),
    warning: visible('warning'),
    error: visible('error'),
    debug: env['RUNNER_DEBUG'] === '1' ? visible('debug') : () => undefined,
    output: (name, value) => pair('GITHUB_OUTPUT', 'set-output', name, value),
    state: (name, value) => pair('GITHUB_STATE', 'save-state', name, value),
    summary: async (markdown) => write('GITHUB_STEP_SUMMARY', `${markdown}\n`),
  };
}
