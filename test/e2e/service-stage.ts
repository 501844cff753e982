import type { TestContext } from 'vitest';
import type { Awaited as AwaitedRequest, OperationPlan, ServedControlPlaneOptions } from '../../control-plane/index.js';
import { startControlPlane } from '../../control-plane/index.js';

export type ServiceStage = Awaited<ReturnType<typeof setServiceStage>>;

const scripts = '/scripts/';

/** The variable CTL_BRANCH_ID of the examples. */
export const mainBranch = 'br-main-1';

/** A control plane. Its scripts run in workflows, and each tells the control plane when it runs. */
export async function setServiceStage(context: TestContext, options: ServedControlPlaneOptions = {}) {
  const service = await startControlPlane(options);
  context.onTestFinished(() => service.close());
  const [projectId = ''] = service.projectIds;
  return {
    service,
    projectId,
    /** A script that tells the control plane that it runs, with what argument, and with the key of `CTL_API_KEY`. */
    script: (name: string) => `#!/bin/sh
echo "It runs with <\${CTL_API_KEY:-none}>."
exec curl --no-progress-meter --header "Authorization: Bearer \${CTL_API_KEY:-none}" --output /dev/null \\
  "${service.baseUrl}${scripts}${name}/$1"
`,
    /** An operation that ends when that request has come. */
    startUntil: (awaited: AwaitedRequest, plan?: OperationPlan & { readonly projectId?: string }) => {
      const operation = service.plane.startOperation({ ...plan, lengthMs: Number.POSITIVE_INFINITY });
      const end = () => service.plane.endOperation(operation, plan?.outcome);
      service.arrived(awaited).then(end, () => undefined);
      return operation;
    },
    /** What reached the control plane, in order, each with the id of its key. The same look, again and again, is told once. */
    story: () => {
      const told = service.requests.map(({ endpoint, path, keyId = 'none' }) => {
        const [, script] = path.split(scripts);
        return `${script?.replace('/', ' ').trim() ?? endpoint}, key ${keyId}`;
      });
      return told.filter((line, index) => !/^(?:get|list)-/.test(line) || line !== told[index - 1]);
    },
  };
}
