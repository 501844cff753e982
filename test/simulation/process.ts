import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import { postStateName } from '../../src/keys/post-state-name.js';
import { mainWork, postWork } from '../kit/virtual-step.js';
import { FakeWorkflowRuns } from '../kit/workflow-runs.js';
import { Chance } from './chance.js';
import type { Plan, StepPlan } from './plan.js';
import type { ProcessRecord } from './record.js';
import { runRecorded, type Told } from './recorded.js';
import type { Stage } from './stage.js';
import { pollsOnceFor, postTimeout } from './truth.js';

/** A process that runs so much longer than it may hangs. */
const overtimeMs = 120_000;

/** Runs one process of a step. `state`: of post. `temp`: for files. */
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
    RUNNER_TEMP: temp,
    [`STATE_${postStateName}`]: state,
  };
  const runnerFault = isMain || step.runnerFault?.kind === 'summary' ? step.runnerFault : undefined;
  let told = 0;
  const accept = ({ kind, name }: Told, record: ProcessRecord) => {
    if (runnerFault?.kind !== kind || ++told !== runnerFault.nth) return;
    record.runnerFailed = true;
    throw new Error(`ENOSPC: no space left on device, write (${kind} ${name})`);
  };
  const record = await runRecorded({
    part,
    inputs,
    interruption,
    accept,
    clock,
    connect: stage.connect,
    work: isMain ? mainWork(workflowRuns(runs, stage)) : postWork(environment),
    environment,
    random: new Chance(seed * 16 + 2 * jobs.flat().indexOf(step) + (isMain ? 0 : 1)).random,
    clockAheadMs: step.clockAheadMs,
    limitMs: (isMain ? step.timeoutMs || pollsOnceFor : postTimeout) + overtimeMs,
  });
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
