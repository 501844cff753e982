import { Console } from 'node:console';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, type TestContext, test } from 'vitest';
import {
  actionFiles,
  type Behaviour,
  observed,
  seenBy,
  shortened,
  shownLines,
} from '../official/behaviours/behaviour.js';
import { readRecording } from '../official/behaviours/recording.js';
import { allGroups } from '../official/behaviours/table.js';
import { token } from '../official/message.js';
import type { ChildOptions, StepProcess, Stream } from '../runner/child.js';
import { Job } from '../runner/job.js';
import { type StepResult, startPost, startStep } from '../runner/step.js';
import { needs } from './host.js';

/** Those of one step which ends by itself, and in which this runner does what GitHub's does. */
const rows = allGroups.flatMap((group) => {
  const others = ['next', 'isCancelled', 'needsProcess', 'differs'];
  const plain = group.behaviours.filter((one) => !others.some((part) => part in one));
  return plain.map((each) => [each.claim, each, group] as const);
});

test.concurrent.for(rows)('as in GitHub’s runner: %s', async ([claim, behaviour, group], context) => {
  if (/carriage return|SIGABRT|128 KiB/.test(claim)) needs(context, 'recording');
  expect(plain(await observe(context, behaviour, group))).toEqual(plain(readRecording()[claim] ?? {}));
});

async function observe(context: TestContext, behaviour: Behaviour, group: (typeof allGroups)[number]) {
  const job = new Job();
  context.onTestFinished(() => job.dispose());
  const seen = join(job.root, 'seen');
  mkdirSync(seen);
  for (const [name, text] of Object.entries(actionFiles(behaviour, seen))) writeFileSync(join(job.root, name), text);
  const main = await startStep({
    job,
    token,
    debug: group.debug,
    spawn: runHere,
    secrets: Object.values(group.secrets ?? {}),
    actionYml: join(job.root, 'action.yml'),
    inputs: behaviour.with,
    env: { ...group.env, ...behaviour.env },
  }).done;
  return {
    main: partOf(main, seenBy(seen, 'main')),
    ...(behaviour.post !== undefined && { post: partOf(await startPost(main).done, seenBy(seen, 'post')) }),
    outputs: Object.keys(main.outputs).length > 0 ? shortened(main.outputs) : undefined,
  };
}

/** Runs a script in this process. Scripts without `needsProcess` use their environment, files, streams and exit code alone. */
function runHere({ args, env, onData }: ChildOptions): StepProcess {
  const code = readFileSync(args.at(-1) ?? '', 'utf8');
  const open = (stream: Stream) => new Writable({ write: (chunk, _, done) => done(void onData(stream, chunk)) });
  const own = { env: { ...env }, exitCode: 0, pid: 1, stdout: open('stdout'), stderr: open('stderr') };
  new Function('require', 'process', 'console', code)(createRequire(import.meta.url), own, new Console(own));
  return { ended: Promise.resolve({ exitCode: own.exitCode, signal: null }), hasExited: true, kill: () => undefined };
}

function partOf({ conclusion, log, annotations, summary }: StepResult, seen: readonly unknown[]) {
  const shown = annotations.filter((one) => one.shown).map(({ kind, message }) => ({ kind, message }));
  return observed({ conclusion, log: shownLines(log), annotations: shown, summary, seen });
}

/** The page ends each summary with a line break. */
const plain = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), (key, one) => (key === 'summary' ? one.replace(/\n$/, '') : one));
