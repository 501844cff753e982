import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type Finished,
  runPost,
  type StepHandle,
  type StepOptions,
  type StepResult,
  startStep,
} from '../../runner/step.js';

export interface FixtureAction {
  /** JavaScript with `file(name, text)`, which appends to a command file. */
  readonly main: string;
  readonly post?: string;
  readonly yml?: string;
}

const PRELUDE = `const file = (name, text) => require('node:fs').appendFileSync(process.env['GITHUB_' + name], text);
const stay = () => setInterval(() => {}, 1000);
`;

/** Writes a tiny action and gives back the path of its action.yml. */
export function fixtureAction({ main, post, yml = '' }: FixtureAction): string {
  const folder = mkdtempSync(join(tmpdir(), 'fixture-action-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'main.cjs'), PRELUDE + main);
  if (post !== undefined) writeFileSync(join(folder, 'post.cjs'), PRELUDE + post);
  const runs = `runs:\n  using: node20\n  main: main.cjs\n${post === undefined ? '' : '  post: post.cjs\n'}`;
  const path = join(folder, 'action.yml');
  writeFileSync(path, `name: fixture\n${yml}\n${runs}`);
  return path;
}

export function start(action: FixtureAction, options: StepOptions = {}): StepHandle {
  const step = startStep({ actionYml: fixtureAction(action), ...options });
  onTestFinished(() => step.job.dispose());
  return step;
}

export async function run(action: FixtureAction, options: StepOptions = {}): Promise<StepResult> {
  return start(action, options).done;
}

/** The post of an action without state of its main. */
export async function runPostAlone(action: FixtureAction, from: Finished, options: StepOptions): Promise<StepResult> {
  const result = await runPost(from, { actionYml: fixtureAction(action), ...options });
  onTestFinished(() => result.dispose());
  return result;
}
