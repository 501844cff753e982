import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'vitest';
import {
  type RunningControlPlane,
  type ServedControlPlaneOptions,
  startControlPlane,
} from '../../control-plane/index.js';
import { preload } from '../kit/preload.js';
import { type JobHandle, startJob } from './job.js';
import type { JobPlan, WorkStep } from './plan.js';
import type { JobResult } from './result.js';

/** A control plane, and jobs that know its key as a secret and its address as a variable of their environment. */
export interface Stage {
  readonly service: RunningControlPlane;
  readonly projectId: string;
  start(plan: JobPlan): Promise<JobHandle>;
  run(plan: JobPlan): Promise<JobResult>;
}

export async function setStage(context: TestContext, options: ServedControlPlaneOptions = {}): Promise<Stage> {
  const service = await startControlPlane({ projects: 1, operations: 3, ...options });
  context.onTestFinished(() => service.close());
  const [projectId = ''] = service.projectIds;
  const start: Stage['start'] = ({ secrets, env, ...plan }) =>
    startJob(context, {
      secrets: { CTL_API_KEY: service.apiKey, ...secrets },
      env: { CTL_BASE_URL: service.baseUrl, ...env },
      ...plan,
    });
  return { service, projectId, start, run: async (plan) => (await start(plan)).done };
}

/** A step of the action with the key of the job. */
export function act(
  id: string,
  mode: string,
  inputs: Readonly<Record<string, string>> = {},
  more: Partial<WorkStep> = {},
): WorkStep {
  const key = { 'api-key': '${{ secrets.CTL_API_KEY }}' };
  return { id, uses: 'org/ctl-action@v1', with: { mode, ...key, ...inputs }, ...more };
}

/** A step that lasts until it is released. */
export function hold({ onTestFinished }: TestContext, id: string): { readonly step: WorkStep; release(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const released = join(folder, 'released');
  return {
    step: { id, run: `until test -e '${released}'; do sleep 0.1; done` },
    release: () => writeFileSync(released, ''),
  };
}

/** Variables of a step whose log says of the action what this file sees: `say-node`, `say-signals`, `say-names`. */
export function observed(by: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--require ${resolve(`test/official/${by}.cjs`)}` };
}

/** Variables of a step that load a fixture before the action. */
export function preloading(fixture: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: preload(fixture).join(' ') };
}
