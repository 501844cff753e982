import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** One thing that a runner does, as an action that shows it. Its scripts are JavaScript with the functions of `prelude`. */
export interface Behaviour {
  /** A claim that stands alone. */
  readonly claim: string;
  /** `inputs:` of action.yml, where it has any. */
  readonly inputs?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly main: string;
  /** Runs when the job ends, whatever main did. */
  readonly post?: string;
  /** The main of a later step, which runs whatever the first one did. */
  readonly next?: string;
  /** It needs a process of its own. The scripts of all others use their environment, files, streams and exit code alone. */
  readonly needsProcess?: true;
  /** The job is cancelled as soon as main says that it is `ready`. */
  readonly isCancelled?: true;
  /** Where the suite's runner does otherwise: why, and what of it is not compared. */
  readonly differs?: { readonly why: string; readonly parts: readonly (keyof StageObservation)[] };
}

/** By claim. A text is a `main` and nothing else. */
export type Table = Readonly<Record<string, string | Omit<Behaviour, 'claim'>>>;

/** The behaviours of one job. One that is cancelled has a job of its own. */
export interface Group {
  readonly topic: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly debug?: true;
  readonly behaviours: readonly Behaviour[];
}

export type Stage = 'main' | 'next' | 'post';

/** In plain JSON, without paths and times; what is empty is left out. */
export interface Observation extends Partial<Readonly<Record<Stage, StageObservation>>> {
  /** What a later step of the job would get. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** What the runner sent to cancel main, and the seconds it would wait after each. */
  readonly cancel?: readonly SentSignal[];
}

export interface SentSignal {
  readonly signal: string;
  readonly waits?: number;
}

export interface StageObservation {
  readonly conclusion: string;
  readonly log?: readonly string[];
  readonly annotations?: readonly ObservedAnnotation[];
  readonly summary?: string;
  /** What the scripts told with `see`. */
  readonly seen?: readonly unknown[];
}

export interface ObservedAnnotation {
  readonly kind: string;
  readonly message: string;
}

/** The files of the action, by name. What its scripts see goes to files in `told`. */
export function actionFiles(behaviour: Behaviour, told: string): Readonly<Record<string, string>> {
  const { inputs = '{}', main, post } = behaviour;
  const runs = `runs:\n  using: node20\n  main: main.cjs\n${post === undefined ? '' : '  post: post.cjs\n'}`;
  return {
    'action.yml': `name: behaviour\ndescription: Shows what a runner does.\ninputs: ${inputs}\n${runs}`,
    'main.cjs': prelude(join(told, 'main')) + main,
    ...(post === undefined ? {} : { 'post.cjs': prelude(join(told, 'post')) + post }),
  };
}

/** Those of the action of the later step. */
export function nextFiles({ next = '' }: Behaviour, told: string): Readonly<Record<string, string>> {
  return actionFiles({ claim: '', main: next }, told);
}

const prelude = (
  told: string,
): string => `const { appendFileSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
/** To a command file. */
const file = (name, text) => appendFileSync(process.env['GITHUB_' + name], text);
const see = (...values) => appendFileSync(${JSON.stringify(told)}, values.map((value) => JSON.stringify(value ?? null) + '\\n').join(''));
const env = (pattern) => Object.fromEntries(Object.entries(process.env).filter(([name]) => pattern.test(name)).sort());
const ready = () => writeFileSync(${JSON.stringify(`${told}-is-ready`)}, '');
const stay = () => setInterval(() => {}, 1000);
`;

export function seenBy(told: string, stage: Stage): readonly unknown[] {
  const path = join(told, stage);
  // It told nothing, or was not started.
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** When main has said that it is `ready`. */
export async function readiness(told: string): Promise<void> {
  while (!existsSync(join(told, 'main-is-ready'))) await pause(10);
}

/** The lines of a log, with the words that a page shows for its marks. */
export function shownLines(log: string): readonly string[] {
  const words: Readonly<Record<string, string>> = { error: 'Error', warning: 'Warning', notice: 'Notice' };
  const shown = log.replaceAll(/^##\[(error|warning|notice)\]/gm, (_mark, kind: string) => `${words[kind]}: `);
  return shown.split('\n').slice(0, -1);
}

/** What is empty is left out, and a long run of one character is that character and its length. */
export function observed({ conclusion, ...parts }: StageObservation): StageObservation {
  const told = Object.entries(parts).filter(([, part]) => part !== undefined && part.length > 0);
  return shortened({ conclusion, ...Object.fromEntries(told) });
}

export function shortened<T>(value: T): T {
  const shorten = (text: string) => text.replace(/(.)\1{99,}/gs, (run, one) => `${one}{${run.length}}`);
  return JSON.parse(JSON.stringify(value), (_key, item: unknown) => (typeof item === 'string' ? shorten(item) : item));
}
