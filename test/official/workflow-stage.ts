import { readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import type { ServedControlPlaneOptions } from '../../control-plane/index.js';
import { mainBranch, type ServiceStage, setServiceStage } from '../e2e/service-stage.js';
import { startJob } from './job.js';
import type { JobPlan } from './plan.js';
import type { JobResult } from './result.js';
import { jobOf, repositoryFolder } from './workflow.js';

type RunOptions = Pick<JobPlan, 'vars' | 'secrets' | 'files' | 'apiUrl' | 'runnerEnv'>;

/** A control plane, and jobs of workflows that know it by the secret and the variables that the examples name. */
export interface WorkflowStage extends ServiceStage {
  /** The job of the workflow in this file, with these files in its repository. */
  run(file: string, jobId: string, options?: RunOptions): Promise<JobResult>;
}

export async function setWorkflowStage(
  context: TestContext,
  options: ServedControlPlaneOptions = {},
): Promise<WorkflowStage> {
  const stage = await setServiceStage(context, options);
  const { service, projectId } = stage;
  return {
    ...stage,
    run: async (file, jobId, { vars, secrets, files = {}, ...more } = {}) => {
      const job = await startJob(context, {
        ...jobOf(readFileSync(file, 'utf8'), jobId),
        secrets: { CTL_API_KEY: service.apiKey, ...secrets },
        vars: { CTL_BASE_URL: service.baseUrl, CTL_PROJECT_ID: projectId, CTL_BRANCH_ID: mainBranch, ...vars },
        files: Object.fromEntries(Object.entries(files).map(([path, text]) => [`${repositoryFolder}/${path}`, text])),
        ...more,
      });
      return job.done;
    },
  };
}
