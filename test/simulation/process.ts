import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import type { Toolkit } from '../../src/action/toolkit.js';
import { postStateName } from '../../src/keys/post-state-name.js';
import { startVirtualProcess } from '../kit/virtual-process.js';
import { mainWork, postWork } from '../kit/virtual-step.js';
import { FakeWorkflowRuns } from '../kit/workflow-runs.js';
import { Chance } from './chance.js';
import type { Interruption, Plan, StepPlan } from './plan.js';
import { type MessageKind, type Part, type ProcessRecord, processRecord } from './record.js';
import type { Stage } from './stage.js';
import { pollsOnceFor, postTimeout } from './truth.js';

/** A process that runs so much longer than it may hangs. */
const overtimeMs = 120_000;

/** Runs one process of a step, interrupts it as planned, and records what it sends and says. `temp`: for files. */
export async function runProcess(
  { seed, jobs, runs, jitter }: Plan,
  stage: Stage,
  { part, step, state, temp }: { part: Part; step: StepPlan; state: string; temp: string },
): Promise<ProcessRecord> {
  const { clock } = stage;
  const isMain = part === 'main';
  const { inputs, interruption, environment: own, clockAheadMs } = isMain ? step : step.post;
  const environment = {
    ...own,
    GITHUB_STATE: 'state',
    GITHUB_OUTPUT: 'output',
    RUNNER_TEMP: temp,
    [`STATE_${postStateName}`]: state,
  };
  const runnerFault = isMain || step.runnerFault?.kind === 'summary' ? step.runnerFault : undefined;
  const record = processRecord(part, clock.now());
  let [events, told] = [0, 0];

  const interrupt = () => (interruption?.what === 'kill' ? running.kill() : running.signal());
  function count(event: Interruption['on']): void {
    if (running.isOver || interruption?.on !== event || ++events !== interruption.nth) return;
    if (interruption.ms === 0) interrupt();
    else clock.schedule(clock.now() + interruption.ms, interrupt);
  }

  function tell(kind: MessageKind, name: string, text: string): void {
    count('message');
    if (running.isOver) return;
    if (runnerFault?.kind === kind && ++told === runnerFault.nth) {
      record.runnerFailed = true;
      throw new Error(`ENOSPC: no space left on device, write (${kind} ${name})`);
    }
    record.messages.push({ at: clock.now(), kind, name, text });
  }
  const print = (kind: MessageKind) => (text: string) => tell(kind, '', text);
  const write = (kind: MessageKind) => (name: string, text: string) => tell(kind, name, text);
  const toolkit: Toolkit = {
    input: (name) => inputs[name] ?? '',
    mask: print('mask'),
    info: print('info'),
    notice: print('notice'),
    warning: print('warning'),
    error: print('error'),
    debug: print('debug'),
    output: write('output'),
    state: write('state'),
    summary: async (text) => tell('summary', '', text),
  };

  const work = isMain ? mainWork(workflowRuns(runs, stage)) : postWork(environment);
  const { random } = new Chance(seed * 16 + 2 * jobs.flat().indexOf(step) + (isMain ? 0 : 1));
  const running = startVirtualProcess({
    clock,
    environment,
    toolkit,
    clockAheadMs,
    exchange: stage.connect(record, count),
    random: jitter === undefined ? random : () => jitter,
    limitMs: (isMain ? step.timeoutMs || pollsOnceFor : postTimeout) + overtimeMs,
    work,
  });
  record.exit = await running.ended;
  record.endedAt = clock.now();
  record.crash = running.crash;
  record.signalledAt = running.signalledAt;
  record.resultFile = takeResultFile(record);
  return record;
}

/** The runs write thousands of files, so each is removed at once. */
function takeResultFile(record: ProcessRecord): string | undefined {
  const path = record.output('result-file');
  if (path === undefined || !existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  unlinkSync(path);
  return text;
}

/** The runs of the repository as one step may see them. */
function workflowRuns(runs: Plan['runs'], stage: Stage): FakeWorkflowRuns {
  const github = new FakeWorkflowRuns((ms) => stage.clock.sleep(ms));
  for (const [id, state] of runs) github.set(id, state);
  return github;
}
