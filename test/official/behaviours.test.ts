import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, type TestContext, test } from 'vitest';
import {
  actionFiles,
  type Behaviour,
  type Group,
  nextFiles,
  type Observation,
  observed,
  readiness,
  type SentSignal,
  type StageObservation,
  seenBy,
  shortened,
  shownLines,
} from './behaviours/behaviour.js';
import { readRecording, writeRecording } from './behaviours/recording.js';
import { allGroups, cancelledGroups, groups } from './behaviours/table.js';
import { startJob } from './job.js';
import type { JobPlan, WorkStep } from './plan.js';
import type { JobResult } from './result.js';
import type { Annotation } from './services.js';

/** `RECORD=1` writes what the worker does now in place of comparing it. */
const isRecording = Boolean(process.env['RECORD']);
const recording = isRecording ? {} : readRecording();
const all = new Map<string, Observation>();

/** What github.com turns on. */
const flags = ['EnhancedAnnotations', 'DeprecateStepOutputCommands'].map((flag) => `DistributedTask.${flag}`);

// Those first that wait most of their time.
const rows = [cancelledGroups, ...groups.map((group) => [group])].map((jobs) => [jobs[0]?.topic, jobs] as const);

test.concurrent.for(rows)('the worker behaves as recorded: %s', async ([, jobs], context) => {
  const observations = await Promise.all(jobs.map((group) => observe(context, group)));

  for (const [claim, observation] of observations.flatMap((ofJob) => Object.entries(ofJob))) {
    if (isRecording) all.set(claim, observation);
    else context.expect.soft(observation, claim).toEqual(recording[claim]);
  }
});

afterAll(() => {
  if (!isRecording) return;
  const claims = allGroups.flatMap(({ behaviours }) => behaviours.map(({ claim }) => claim));
  expect([...all.keys()].toSorted()).toEqual(claims.toSorted());
  writeRecording(claims.map((claim) => [claim, all.get(claim)]));
});

interface Placed {
  readonly id: string;
  readonly behaviour: Behaviour;
  /** Where its scripts tell what they see. */
  readonly told: string;
  readonly toldByNext: string;
}

async function observe(context: TestContext, group: Group): Promise<Readonly<Record<string, Observation>>> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const placed = group.behaviours.map((behaviour, index): Placed => {
    const [told = '', toldByNext = ''] = ['', '-next'].map((part) => join(folder, `step-${index}${part}`));
    for (const path of [told, toldByNext]) mkdirSync(path);
    return { id: `step-${index}`, behaviour, told, toldByNext };
  });

  const { done, cancel } = await startJob(context, planOf(group, placed, folder));
  for (const { told } of placed.filter(({ behaviour }) => behaviour.isCancelled)) {
    await readiness(told);
    cancel();
  }
  const job = await done;

  // Nothing is collected where no process can start any more.
  const steps = JSON.parse(contents(join(folder, 'steps.json')) || '{}');
  const trace = contents(join(folder, 'trace'));
  return Object.fromEntries(placed.map((each) => [each.behaviour.claim, observationOf(each, job, steps, trace)]));
}

function planOf({ env, secrets, debug }: Group, placed: readonly Placed[], folder: string): JobPlan {
  const files = placed.flatMap(({ id, behaviour, told, toldByNext }) => [
    ...Object.entries(actionFiles(behaviour, told)).map(([name, text]) => [`${id}/${name}`, text] as const),
    ...Object.entries(nextFiles(behaviour, toldByNext)).map(([name, text]) => [`${id}-next/${name}`, text] as const),
  ]);
  const steps = placed.flatMap(({ id, behaviour }): WorkStep[] => [
    {
      id,
      // A cancel would not reach it with `always()`.
      if: behaviour.isCancelled ? 'success()' : 'always()',
      uses: `./${id}`,
      with: behaviour.with ?? {},
      env: behaviour.env ?? {},
    },
    ...(behaviour.next === undefined
      ? []
      : [{ id: `${id}-next`, if: 'always()', uses: `./${id}-next` } satisfies WorkStep]),
  ]);
  const collect: WorkStep = {
    id: 'collect',
    if: 'always()',
    // A variable could not hold it all.
    run: `cat > '${folder}/steps.json' <<'END OF ALL STEPS'
\${{ toJSON(steps) }}
END OF ALL STEPS
cat "$GITHUB_WORKSPACE"/../../../_diag/Worker_*.log > '${folder}/trace'`,
  };
  return {
    files: Object.fromEntries(files),
    env: { ...env },
    ...(secrets === undefined ? {} : { secrets }),
    debug: debug ?? false,
    flags,
    steps: [...steps, collect],
  };
}

const contents = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

type Steps = Readonly<Record<string, { readonly outputs: Readonly<Record<string, string>> }>>;

function observationOf(
  { id, behaviour, told, toldByNext }: Placed,
  job: JobResult,
  steps: Steps,
  trace: string,
): Observation {
  const stage = (name: string, seen: readonly unknown[]): StageObservation => {
    const { conclusion = '', log = '', summary = '', annotations = [] } = job.steps[name] ?? {};
    return observed({
      conclusion: conclusions[conclusion] ?? conclusion,
      log: logOf(withoutPaths(log)),
      annotations: annotations.map(annotationOf),
      summary,
      seen,
    });
  };
  const outputs = steps[id]?.outputs ?? {};
  return {
    main: stage(id, seenBy(told, 'main')),
    ...(behaviour.next === undefined ? {} : { next: stage(`${id}-next`, seenBy(toldByNext, 'main')) }),
    ...(behaviour.post === undefined ? {} : { post: stage(`Post ${id}`, seenBy(told, 'post')) }),
    ...(Object.keys(outputs).length === 0 ? {} : { outputs: shortened(outputs) }),
    ...(behaviour.isCancelled ? { cancel: cancelOf(trace) } : {}),
  };
}

const conclusions: Readonly<Record<string, string>> = {
  succeeded: 'success',
  failed: 'failure',
  canceled: 'cancelled',
};

/** Folders are named in quotes. */
const withoutPaths = (text: string): string => text.replaceAll(/'\/[^'\n]+'/g, "'…'");

/** Without what the runner says of the step itself. */
function logOf(log: string): readonly string[] {
  return shownLines(log.replace(/^##\[group\]Run \.\/.*?^##\[endgroup\]\n/ms, '').replace(/^Post job cleanup\.\n/, ''));
}

function annotationOf({ level, message }: Annotation) {
  return { kind: level === 'failure' ? 'error' : level, message: withoutPaths(message) };
}

/** From the diagnostic log, so that no clock is read. */
function cancelOf(trace: string): readonly SentSignal[] {
  const sent = [...trace.matchAll(/Waiting for process exit or ([\d.]+) seconds after (\w+) signal fired/g)];
  const signals = sent.map(([, seconds, signal = '']) => ({ signal, waits: Number(seconds) }));
  return trace.includes('Kill entire process tree') ? [...signals, { signal: 'SIGKILL' }] : signals;
}
