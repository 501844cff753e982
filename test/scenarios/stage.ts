import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { type RunningControlPlane, type ServedControlPlaneOptions, startControlPlane } from '../control-plane/index.js';
import {
  type StepHandle,
  type StepOptions,
  type StepResult,
  startPost as startPostStep,
  startStep,
} from '../runner/step.js';

/** A control plane with one project, and steps of the action against it; all of it is gone when the test is over. */
export interface Stage {
  readonly service: RunningControlPlane;
  readonly projectId: string;
  /** A folder of the test's own. */
  readonly folder: string;
  start(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): StepHandle;
  run(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): Promise<StepResult>;
  /** A step with its mode, the key and the address alone. */
  startMode(mode: string, inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): StepHandle;
  runMode(mode: string, inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): Promise<StepResult>;
  /** The post step, with what main left. */
  startPost(from: StepResult, options?: StepOptions): StepHandle;
  runPost(from: StepResult, options?: StepOptions): Promise<StepResult>;
}

export async function setStage(
  { onTestFinished }: TestContext,
  options: ServedControlPlaneOptions = {},
): Promise<Stage> {
  const service = await startControlPlane({ projects: 1, operations: 3, ...options });
  onTestFinished(() => service.close());
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const projectId = service.projectIds[0] ?? '';
  const gone = (handle: StepHandle): StepHandle => {
    onTestFinished(async () => {
      handle.kill();
      (await handle.done).dispose();
    });
    return handle;
  };
  // The bundle runs on more than one Node, the tests on one.
  const node = process.env['NODE_OF_BUNDLE'];
  const common = { limitMs: 15_000, ...(node === undefined ? {} : { node }) };
  const startMode: Stage['startMode'] = (mode, inputs, more) => {
    const access = { 'api-key': service.apiKey, 'base-url': service.baseUrl };
    return gone(startStep({ ...common, ...more, inputs: { mode, ...access, ...inputs } }));
  };
  const start: Stage['start'] = (inputs, more) =>
    startMode('wait-operation', { 'project-id': projectId, ...inputs }, more);
  const startPost: Stage['startPost'] = (from, more) => gone(startPostStep(from, { limitMs: 30_000, ...more }));
  return {
    service,
    projectId,
    folder,
    start,
    run: (inputs, more) => start(inputs, more).done,
    startMode,
    runMode: (mode, inputs, more) => startMode(mode, inputs, more).done,
    startPost,
    runPost: (from, more) => startPost(from, more).done,
  };
}

/** The one error annotation of a step that failed. */
export function errorOf(result: StepResult): string {
  const errors = result.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action');
  if (errors.length !== 1) throw new Error(`expected one error, found ${errors.length}:\n${result.log}`);
  return errors[0]?.message ?? '';
}

export function warningsOf(result: StepResult): string[] {
  return result.annotations
    .filter(({ kind, source }) => kind === 'warning' && source === 'action')
    .map(({ message }) => message);
}

export function noticesOf(result: StepResult): string[] {
  return result.annotations
    .filter(({ kind, source }) => kind === 'notice' && source === 'action')
    .map(({ message }) => message);
}

/** What a step printed, without the commands that mask: only there may a secret stand. */
export function withoutMasks(output: string): string {
  return output.replace(/^::add-mask::.*$/gm, '');
}
