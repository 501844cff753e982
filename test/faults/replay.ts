import pLimit from 'p-limit';
import { type Fault, type RunningGitHub, startGitHub } from '../../control-plane/github/index.js';
import type { LookupFailure } from '../../src/modes/sweep-keys/workflow-runs.js';
import { delay } from '../kit/fault.js';
import { preload } from '../kit/preload.js';
import { type StepHandle, type StepOptions, type StepResult, startPost, startStep } from '../runner/step.js';
import { Chance } from '../simulation/chance.js';
import { drawPlan } from '../simulation/draw/plan.js';
import { type GitHubRun, githubToken, type Interruption, ownRun, type StepPlan } from '../simulation/plan.js';
import { awaitMoment, timeoutOf } from '../simulation/process.js';
import { type ProcessRecord, processRecord, type Run } from '../simulation/record.js';
import { play, type RunPart } from '../simulation/simulate.js';
import { createStage, epoch, type Listener, type Stage } from '../simulation/stage.js';
import { serve } from './socket-server.js';
import { completeRecord, isMark } from './step-record.js';

/** More processes that start at once only delay each other. */
const starts = pLimit(2);

/** Moments within a process that nothing outside shows, for an interruption at a message. */
const innerMoments = [
  ...['before state 1', 'before state 2', 'after state 2', 'before state 3', 'after state 3', 'before request 1'],
  ...['after request 1', 'after answer 1', 'before output 1', 'after output 3', 'after output 5', 'before env 1'],
  ...['after env 1', 'before summary 1', 'after summary 1', 'before output 2'],
];

const notFound: Fault = { kind: 'status', status: 404 };
const permanent: readonly Fault[] = [{ kind: 'no-permission' }, { kind: 'status', status: 401 }, { kind: 'redirect' }];
const transient: readonly Fault[] = [
  ...([500, 503].map((status) => ({ kind: 'status', status })) satisfies Fault[]),
  ...[{ kind: 'html', status: 502 } as const, delay(3_000)],
  ...(['bad-json', 'empty-body', 'cut-before-headers', 'cut-mid-body'] as const).map((kind) => ({ kind })),
];

/** Replays a drawn plan with the built bundle as processes, in real time and over sockets. */
export async function replay(seed: number): Promise<Run> {
  const origin = 'http://127.0.0.1';
  const { clock, start } = realClock();
  // A busy machine may be late by 10 s.
  const { plan, stage } = drawPlan(seed, (service) => createStage(clock, origin, service, 0, 10_000));
  start();
  const github = await startGitHubOf(plan.runs, new Chance(seed));
  const steps = new Map(plan.jobs.flat().map((step) => [step, socketStep(stage, seed, github.url)]));
  try {
    const run: RunPart = (part, step) => (steps.get(step) as ReturnType<typeof socketStep>).run(part, step);
    const records = await play(plan, stage, run, 0);
    const isOtherToken = github.requests.some(({ headers }) => headers['authorization'] !== `token ${githubToken}`);
    if (isOtherToken) records[0]?.main.problems.push('GitHub got another token');
    return { plan, stage, steps: records };
  } finally {
    for (const step of steps.values()) await step.dispose();
    stage.exchanges.close();
    await github.close();
  }
}

/** It stands still until `start`: a key that is drawn a millisecond later than the first one would be new to replicas that lag. */
function realClock() {
  let startedAt: number | undefined;
  const now = () => (startedAt === undefined ? 0 : Date.now() - startedAt);
  const epochMs = () => epoch + now();
  const after = (ms: number, call: () => void) => {
    // The servers keep the process alive as long as it is needed.
    const timer = setTimeout(call, Math.min(Math.max(0, ms), 2 ** 31 - 1)).unref();
    return () => clearTimeout(timer);
  };
  const schedule = (time: number, call: () => void) => after(time - now(), call);
  const start = () => {
    startedAt = Date.now();
  };
  return { clock: { now, epochMs, schedule, service: { now: epochMs, schedule: after } }, start };
}

/** The processes of one step, with a server of their own. */
function socketStep(stage: Stage, seed: number, gitHubUrl: string) {
  let server: Awaited<ReturnType<typeof serve>> | undefined;
  let listener: Listener | undefined;
  let mainResult: StepResult | undefined;
  const handles: StepHandle[] = [];
  const signalOf = (interruption: Interruption | undefined) =>
    interruption?.what === 'kill' ? 'SIGKILL' : seed % 2 === 0 ? 'SIGINT' : 'SIGTERM';

  function optionsOf(part: ProcessRecord['part'], plan: StepPlan): StepOptions {
    const { inputs, environment, interruption } = part === 'main' ? plan : plan.post;
    const inner = interruption?.on === 'message' ? innerMoments[interruption.nth - 1] : undefined;
    return {
      inputs: { ...inputs, 'base-url': `${server?.baseUrl}${inputs['base-url']?.endsWith('/') ? '/' : ''}` },
      env: {
        ...environment,
        GITHUB_API_URL: gitHubUrl,
        // The clock of the service, and by how much the plan wants the runner's to differ.
        CLOCK_AHEAD_MS: String(stage.clock.epochMs() - Date.now() + plan.clockAheadMs),
        SIGNAL_AT: inner === undefined ? '' : `${signalOf(interruption)} ${inner}`,
      },
      token: githubToken,
      nodeArgs: ['witness', 'clock-ahead', 'signal-at'].flatMap(preload),
      // A process that runs 30 s longer than it may hangs.
      limitMs: timeoutOf(part, plan) + 30_000,
    };
  }

  async function run(part: ProcessRecord['part'], plan: StepPlan): Promise<ProcessRecord> {
    server ??= await serve(stage, () => listener);
    const { interruption } = part === 'main' ? plan : plan.post;
    const options = optionsOf(part, plan);
    const { handle, record } = await starts(async () => {
      const record = processRecord(part, stage.now);
      // Before its first line, a process may have no handlers of signals yet.
      const interrupt = async () => {
        await handle.waitForLine('').catch(() => undefined);
        handle.kill(signalOf(interruption));
      };
      const count = awaitMoment(interruption, stage.clock, () => void interrupt());
      listener = {
        onRequest: (sent) => {
          record.sent.push(sent);
          count('request');
          if (sent.fault !== undefined) count('fault');
        },
        onEnd: () => count('response'),
      };
      const handle = mainResult === undefined ? startStep(options) : startPost(mainResult, options);
      handles.push(handle);
      await handle.waitForLine('').catch(() => undefined);
      return { handle, record };
    });
    const result = await handle.done;
    mainResult ??= result;
    record.endedAt = stage.now;
    const mark = result.lines.find(({ stream, text }) => stream === 'stderr' && isMark(text));
    const signalledMs = result.signals[0]?.ms ?? mark?.ms;
    if (interruption?.what === 'signal' && signalledMs !== undefined)
      record.signalledAt = record.startedAt + signalledMs;
    completeRecord(record, result, interruption?.what === 'kill' && signalledMs !== undefined);
    return record;
  }

  async function dispose(): Promise<void> {
    for (const handle of handles) {
      handle.kill();
      (await handle.done).job.dispose();
    }
    await server?.close();
  }

  return { run, dispose };
}

/** GitHub as the plan wants it, with a fault of a drawn kind for each run that it does not show. */
async function startGitHubOf(runs: ReadonlyMap<string, GitHubRun>, chance: Chance): Promise<RunningGitHub> {
  const github = await startGitHub({ token: githubToken, repository: 'acme/shop', repositoryId: '5' });
  const { hiddenAfter } = runs.get(ownRun) ?? {};
  if (hiddenAfter !== undefined) github.faults.add({ fault: notFound, from: hiddenAfter + 1 });
  for (const [id, { state, first, times }] of runs) {
    if (state !== 'gone')
      github.addRun({ id, attempt: state.attempt ?? 1, status: state.isCompleted ? 'completed' : 'in_progress' });
    if (first !== undefined) github.faults.add({ path: `/runs/${id}`, fault: faultFor(first, chance), count: times });
  }
  return github;
}

function faultFor(first: 'gone' | 'hangs' | LookupFailure, chance: Chance): Fault {
  if (first === 'gone') return notFound;
  if (first === 'hangs') return { kind: 'hang-before-headers' };
  if (first.status === 429) return chance.pick<Fault>([{ kind: 'rate-limit' }, { kind: 'secondary-rate-limit' }]);
  return chance.pick(first.transient ? transient : permanent);
}
