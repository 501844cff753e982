import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { format } from 'node:util';
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import {
  actionFiles,
  type Behaviour,
  type Group,
  nextFiles,
  observed,
  readiness,
  seenBy,
  shortened,
  shownLines,
} from '../official/behaviours/behaviour.js';
import { readRecording } from '../official/behaviours/recording.js';
import { allGroups } from '../official/behaviours/table.js';
import { token } from '../official/message.js';
import type { ChildOptions, StepProcess, Stream } from '../runner/child.js';
import { parsePairs } from '../runner/command-files.js';
import { Job } from '../runner/job.js';
import { LineSplitter } from '../runner/line-splitter.js';
import { cancelSequence, type StepOptions, type StepResult, startPost, startStep } from '../runner/step.js';
import { needs } from './host.js';

const recording = readRecording();
const rows = allGroups.flatMap((group) => group.behaviours.map((each) => [each.claim, each, group] as const));

test('on Windows, and only there, lines of a command file may end with CRLF', () => {
  const pairs = (isWindows: boolean) => parsePairs('a=1\r\nb<<E\r\none\r\ntwo\r\nE\r\n', isWindows).pairs;
  expect(pairs(true)).toEqual(Object.entries({ a: '1', b: 'one\ntwo' }));
  expect(pairs(false)).toEqual(Object.entries({ a: '1\r', b: 'one\r\ntwo\r' }));
});

test('the recording of GitHub’s runner has exactly the behaviours of the table', () => {
  expect(Object.keys(recording)).toEqual(rows.map(([claim]) => claim));
});

test.concurrent.for(rows)('as in GitHub’s runner: %s', async ([claim, behaviour, group], context) => {
  if (/carriage return|SIGABRT|128 KiB|^a cancel /.test(claim)) needs(context, 'recording');
  const observation = await observe(context, behaviour, group);
  expect(comparable(behaviour, observation)).toEqual(comparable(behaviour, recording[claim] ?? {}));
});

/** Starts an action with this main. */
function start(main: string, options: StepOptions = {}) {
  const job = new Job();
  onTestFinished(() => job.dispose());
  const actionYml = writeAction(job.root, actionFiles({ claim: '', main }, job.root));
  return startStep({ job, actionYml, ...options });
}

test('a step inherits only basic variables such as PATH from the host', async () => {
  const others = ['ANY', 'HTTPS_PROXY', 'GITHUB_TOKEN', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'RUNNER_DEBUG'];
  for (const name of others) vi.stubEnv(name, 'of the host');
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = { GITHUB_REPOSITORY: 'me/mine', GITHUB_REPOSITORY_ID: undefined, HTTP_PROXY: 'http://proxy' };
  const { job, stdout } = await start('console.log(JSON.stringify(process.env))', { env }).done;
  const seen = JSON.parse(stdout);
  expect(seen).toMatchObject({ CI: 'true', GITHUB_REPOSITORY: 'me/mine', HTTP_PROXY: 'http://proxy' });
  for (const name of [...others, 'GITHUB_REPOSITORY_ID']) expect(seen).not.toHaveProperty(name);
  expect(seen['RUNNER_TEMP']).toContain(job.root);
});

test('a process that exceeds its time limit is killed, and the result reports it', async () => {
  const result = await start('stay()', { limitMs: 100 }).done;
  expect(result).toMatchObject({ overran: true, signal: 'SIGKILL', conclusion: 'failure' });
});

test('the lines of a stream do not depend on its chunks', () => {
  const bytes = Buffer.from('\uFEFFa\nb\r\n\r\ngr\u00fcn\rd\n\ne\r');
  for (let at = 0; at <= bytes.length; at++) {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const chunk of [bytes.subarray(0, at), bytes.subarray(at)]) splitter.write(chunk);
    splitter.end();
    expect(lines).toEqual(['a', 'b', '', 'gr\u00fcn', 'd', '', 'e']);
  }
});

async function observe(context: TestContext, behaviour: Behaviour, group: Group) {
  const job = new Job();
  context.onTestFinished(() => job.dispose());
  Object.assign(job.env, group.env);
  const folders = ['seen', 'seen-next', 'action', 'next'].map((name) => join(job.root, name));
  for (const path of folders) mkdirSync(path);
  const [seen = '', seenByNext = '', action = '', nextAction = ''] = folders;
  const spawn = behaviour.needsProcess ? undefined : runScript;
  const shared = { job, token, secrets: Object.values(group.secrets ?? {}), debug: group.debug, spawn };
  const actionYml = writeAction(action, actionFiles(behaviour, seen));
  const step = startStep({ ...shared, actionYml, inputs: behaviour.with, env: behaviour.env });
  if (behaviour.isCancelled) {
    await readiness(seen);
    void step.cancel(0.4);
  }
  const main = await step.done;
  const { outputs, signals } = main;
  const sent = signals.flatMap(({ signal }) => cancelSequence.filter((one) => one.signal === signal));
  const next = async () =>
    startStep({ ...shared, actionYml: writeAction(nextAction, nextFiles(behaviour, seenByNext)) }).done;
  const post = async () => startPost(main).done;
  // If the process of a step cannot start, GitHub's worker fails the step. Our runner throws, because no test does this on purpose.
  const notStarted = () => undefined;
  return {
    main: stageOf(main, seenBy(seen, 'main')),
    ...(behaviour.next !== undefined && { next: stageOf(await next().catch(notStarted), seenBy(seenByNext, 'main')) }),
    ...(behaviour.post !== undefined && { post: stageOf(await post().catch(notStarted), seenBy(seen, 'post')) }),
    ...(Object.keys(outputs).length > 0 && { outputs: shortened(outputs) }),
    ...(behaviour.isCancelled && { cancel: sent }),
  };
}

/** The script of a behaviour as a process of its own would run it, in a hundredth of the time. */
function runScript({ args, env, onData }: ChildOptions): StepProcess {
  const open = (stream: Stream) => ({ write: (chunk: string | Buffer) => onData(stream, Buffer.from(chunk)) });
  const print = (stream: Stream, values: unknown[]) => onData(stream, Buffer.from(`${format(...values)}\n`));
  const log = (...values: unknown[]) => print('stdout', values);
  const error = (...values: unknown[]) => print('stderr', values);
  const script = new Function('require', 'process', 'console', readFileSync(args.at(-1) ?? '', 'utf8'));
  const fake = { env, stdout: open('stdout'), exitCode: 0 };
  script(createRequire(import.meta.url), fake, { log, error });
  return { ended: Promise.resolve({ exitCode: fake.exitCode, signal: null }), hasExited: true, kill: () => {} };
}

function writeAction(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, 'action.yml');
}

function stageOf(result: StepResult | undefined, seen: readonly unknown[]) {
  if (result === undefined) return { conclusion: 'failure' };
  return observed({
    conclusion: result.conclusion,
    log: shownLines(result.log),
    annotations: result.annotations.filter(({ shown }) => shown).map(({ kind, message }) => ({ kind, message })),
    summary: result.summary,
    seen,
  });
}

/** Without the parts that are known to differ. The page ends each summary with a line break. */
function comparable({ differs }: Behaviour, observation: object): unknown {
  return JSON.parse(JSON.stringify(observation), (key, value) => {
    if (differs?.parts.some((part) => part === key)) return undefined;
    return key === 'summary' ? value.replace(/\n$/, '') : value;
  });
}
