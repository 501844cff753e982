import type { TestContext } from 'vitest';
import type { ServedControlPlaneOptions } from '../../control-plane/index.js';
import { type ActOptions, type ActRun, runAct } from './act.js';
import { type ServiceStage, setServiceStage } from './service-stage.js';

/** A control plane, and workflows that know it by the secret and the variables that the examples name. */
export interface Stage extends ServiceStage {
  run(workflow: string, options?: Pick<ActOptions, 'event' | 'files'>): Promise<ActRun>;
}

export async function setStage(context: TestContext, options: ServedControlPlaneOptions = {}): Promise<Stage> {
  const stage = await setServiceStage(context, options);
  const { service, projectId } = stage;
  return {
    ...stage,
    run: (workflow, options) =>
      runAct(context, {
        workflow,
        secrets: { CTL_API_KEY: service.apiKey },
        vars: { CTL_BASE_URL: service.baseUrl, CTL_PROJECT_ID: projectId },
        ...options,
      }),
  };
}
