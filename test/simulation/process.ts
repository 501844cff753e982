import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Toolkit } from '../../src/action/toolkit.js';
import { postStateName } from '../../src/keys/post-state-name.js';
import { startVirtualProcess } from '../kit/virtual-process.js';
import { mainWork, postWork } from '../kit/virtual-step.js';
import { FakeWorkflowRuns } from '../kit/workflow-runs.js';
import type { VirtualClock } from '../virtual/clock.js';
import { Chance } from './chance.js';
import { type Interruption, ownRun, type Plan, type StepPlan } from './plan.js';
import { type Message, type MessageKind, type ProcessRecord, processRecord } from './record.js';
import type { Stage } from './stage.js';
import { pollsOnceFor, postTimeout } from './truth.js';

/** A process that sends more does not wait at all, and virtual time would not pass. */
const maxRequests = 20_000;
/** A process that runs so much longer than it may hangs. */
const overtimeMs = 120_000;

/** Calls `interrupt` at the planned moment. The returned function counts the events of the process. */
export function awaitMoment(
  { on, nth, ms = 0 }: Partial<Interruption> = {},
  clock: VirtualClock,
  interrupt: () => void,
): (event: Interruption['on']) => void {
  let count = 0;
  const after = () => clock.schedule(clock.now() + ms, interrupt);
  if (on === 'time') after();
  return (event) => {
    if (on !== event || ++count !== nth) return;
    if (on === 'fault') after();
    else interrupt();
  };
}

/** Runs one process of the action, interrupts it as planned, and records what it sends and says. `state`: of post. `temp`: for files. */
export async function runProcess(
  { seed, jobs, runs }: Plan,
  stage: Stage,
  { part, step, state, temp }: { part: ProcessRecord['part']; step: StepPlan; state: string; temp: string },
): Promise<ProcessRecord> {
  const { clock } = stage;
  const isMain = part === 'main';
  const { inputs, interruption, environment: own } = isMain ? step : step.post;
  const environment = {
    ...own,
    GITHUB_STATE: 'state',
    GITHUB_OUTPUT: 'output',
    GITHUB_ENV: 'env',
    RUNNER_TEMP: step.runnerFault?.kind === 'result-file' ? join(temp, 'missing') : temp,
    [`STATE_${postStateName}`]: state,
  };
  const work = isMain ? mainWork(workflowRuns(runs, stage)) : postWork(environment);
  const runnerFault = isMain || step.runnerFault?.kind === 'summary' ? step.runnerFault : undefined;
  const record = processRecord(part, stage.now);
  let rejected = 0;
  const interrupt = () => (interruption?.what === 'kill' ? running.kill() : running.signal());
  const count = awaitMoment(interruption, clock, interrupt);
  const exchange = stage.connect({
    onRequest: (sent) => {
      if (record.sent.push(sent) > maxRequests) running.kill('hung');
      count('request');
      clock.schedule(clock.now() + stage.tripMs, () => {
        if (stage.faultOf(sent) !== undefined) count('fault');
      });
    },
    onEnd: () => {
      if (!running.isOver) count('response');
    },
  });
  const tell = (message: Told) => {
    count('message');
    if (running.isOver) return;
    if (runnerFault?.kind === message.kind && ++rejected >= runnerFault.from) {
      record.runnerFailed = true;
      throw new Error(`ENOSPC: no space left on device, write (${message.kind} ${message.name})`);
    }
    record.messages.push({ at: stage.now, ...message });
  };

  const running = startVirtualProcess({
    clock,
    exchange,
    toolkit: createToolkit(inputs, tell),
    work: {
      ...work,
      onSignal: (cancellation) => {
        record.signalledAt ??= stage.now;
        work.onSignal?.(cancellation);
      },
    },
    environment,
    random: new Chance(seed * 16 + 2 * jobs.flat().indexOf(step) + (isMain ? 0 : 1)).random,
    clockAheadMs: step.clockAheadMs,
    limitMs: timeoutOf(part, step) + overtimeMs,
  });
  record.exit = await running.ended;
  record.endedAt = stage.now;
  record.crash = running.crash;
  record.resultFile = takeResultFile(record);
  return record;
}

function timeoutOf(part: ProcessRecord['part'], { timeoutMs }: StepPlan): number {
  return part === 'post' ? postTimeout : timeoutMs || pollsOnceFor;
}

/** Each run writes thousands of files, so they are removed at once. */
function takeResultFile(record: ProcessRecord): string | undefined {
  const path = record.output('result-file');
  if (path === undefined || !existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  unlinkSync(path);
  return text;
}

type Told = Omit<Message, 'at'>;

export function createToolkit(inputs: StepPlan['inputs'], tell: (message: Told) => void): Toolkit {
  const print = (kind: MessageKind) => (text: string) => tell({ kind, name: '', text });
  const write = (kind: MessageKind) => (name: string, text: string) => tell({ kind, name, text });
  return {
    input: (name) => inputs[name] ?? '',
    mask: print('mask'),
    info: print('info'),
    notice: print('notice'),
    warning: print('warning'),
    error: print('error'),
    debug: print('debug'),
    output: write('output'),
    state: write('state'),
    summary: async (text) => tell({ kind: 'summary', name: '', text }),
  };
}

/** The runs of the repository as one step may see them. */
function workflowRuns(runs: Plan['runs'], stage: Stage): FakeWorkflowRuns {
  const github = new FakeWorkflowRuns((ms) => stage.clock.sleep(ms));
  // A token that may not see the runs of a repository gets a 404 for each.
  const { hiddenAfter = Number.POSITIVE_INFINITY } = runs.get(ownRun) ?? {};
  for (const [id, { state, first = state, times }] of runs)
    github.set(id, (attempt) => (github.lookups.length > hiddenAfter ? 'gone' : attempt <= times ? first : state));
  return github;
}
