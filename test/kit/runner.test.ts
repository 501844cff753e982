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

/** The action does nothing of this, and this runner masks no encoded forms: a test sees them. */
const leftOut = new RegExp(
  [
    'GITHUB_ENV|own var|(old|bad) command|command that|a command in it too|ten annotations',
    'output without a name|deleted|1 MiB is dropped',
    'of several lines hides|run of stars|that the runner derives|every shift|separators|quoted value',
  ].join('|'),
);
const others = ['next', 'isCancelled', 'needsProcess', 'differs'];

const rows = allGroups.flatMap((group) =>
  group.behaviours
    .filter((one) => !leftOut.test(one.claim) && !others.some((part) => part in one))
    .map((one) => [one.claim, one, group] as const),
);

test.concurrent.for(rows)('in our runner, as in GitHub’s, %s', async ([claim, behaviour, group], context) => {
  if (claim.includes('carriage return')) needs(context, 'recording');
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
  const told = annotations.filter(({ message }) => message.trim() !== '');
  const shown = told.map(({ kind, message }) => ({ kind, message }));
  return observed({ conclusion, log: shownLines(log), annotations: shown, summary, seen });
}

/** Without the line break at the end of each summary, and without the reasons why a command file is malformed. */
const plain = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), (key, one) =>
    key === 'summary'
      ? one.replace(/\n$/, '')
      : Array.isArray(one)
        ? one.filter((line) => !/^(Error: )?Invalid /.test(line.message ?? line))
        : one,
  );
