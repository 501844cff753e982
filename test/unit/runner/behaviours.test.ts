import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { token } from '../../official/message.js';
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
} from '../../runner/behaviours/behaviour.js';
import { readRecording } from '../../runner/behaviours/recording.js';
import { allGroups } from '../../runner/behaviours/table.js';
import { cancelSequence } from '../../runner/cancel.js';
import { Job } from '../../runner/job.js';
import { type StepHandle, type StepResult, startPost, startStep } from '../../runner/step.js';

const recording = readRecording();
const rows = allGroups.flatMap((group) =>
  group.behaviours.map((behaviour) => [behaviour.claim, behaviour, group] as const),
);

test('each behaviour is recorded once, and nothing else is', () => {
  expect(Object.keys(recording)).toEqual(rows.map(([claim]) => claim));
});

describe('the suite’s runner does as the worker of GitHub’s runner', () => {
  test.concurrent.for(rows)('%s', async ([claim, behaviour, group], context) => {
    const observation = await observe(context, behaviour, group);

    expect(comparable(behaviour, observation)).toEqual(comparable(behaviour, recording[claim] ?? {}));
  });
});

async function observe(context: TestContext, behaviour: Behaviour, group: Group): Promise<Observation> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const job = new Job();
  context.onTestFinished(() => job.dispose());
  Object.assign(job.env, group.env);
  const told = join(folder, 'told');
  const toldByNext = join(folder, 'told-next');
  for (const path of [told, toldByNext]) mkdirSync(path);
  const shared = { job, token, secrets: Object.values(group.secrets ?? {}), debug: group.debug };

  const step = startStep({
    ...shared,
    actionYml: writeAction(join(folder, 'action'), actionFiles(behaviour, told)),
    inputs: behaviour.with,
    env: behaviour.env,
  });
  if (behaviour.isCancelled) {
    await readiness(told);
    step.cancel(0.4);
  }
  const main = await step.done;
  const next =
    behaviour.next === undefined
      ? undefined
      : await end(() =>
          startStep({ ...shared, actionYml: writeAction(join(folder, 'next'), nextFiles(behaviour, toldByNext)) }),
        );
  const post = behaviour.post === undefined ? undefined : await end(() => startPost(main));
  return {
    main: stageOf(main, seenBy(told, 'main')),
    ...(next && { next: stageOf(next, seenBy(toldByNext, 'main')) }),
    ...(post && { post: stageOf(post, seenBy(told, 'post')) }),
    ...(Object.keys(main.outputs).length > 0 && { outputs: shortened(main.outputs) }),
    ...(behaviour.isCancelled && { cancel: cancelOf(main) }),
  };
}

function writeAction(folder: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, 'action.yml');
}

/** A step whose process cannot start is red for the worker; the suite's runner throws, since no test means that. */
async function end(start: () => StepHandle): Promise<StepResult | 'not started'> {
  try {
    return await start().done;
  } catch {
    return 'not started';
  }
}

function stageOf(result: StepResult | 'not started', seen: readonly unknown[]): StageObservation {
  if (result === 'not started') return { conclusion: 'failure' };
  return observed({
    conclusion: result.conclusion,
    log: shownLines(result.log),
    annotations: result.annotations
      .filter(({ shown }) => shown)
      .map(({ kind, message, title, place }) => ({
        kind,
        message,
        ...(title !== undefined && { title }),
        ...(place !== undefined && { place }),
      })),
    summary: result.summaryShown,
    seen,
  });
}

function cancelOf({ signals }: StepResult): readonly SentSignal[] {
  return signals.flatMap(({ signal }) => cancelSequence.filter((sent) => sent.signal === signal));
}

/** Without the parts that are known to differ. */
function comparable({ differs }: Behaviour, observation: Observation): unknown {
  const parts: readonly string[] = differs?.parts ?? [];
  return JSON.parse(JSON.stringify(observation), (key, value) => (parts.includes(key) ? undefined : value));
}
