import { type ApiKey, type ControlPlane, createControlPlane, startControlPlane } from '../control-plane/index.js';
import { startGitHub } from '../github/index.js';
import type { Services, Subject } from './subject.js';

/** With signs that JSON, URLs, HTML and the runner's commands write in other ways. */
export const parentKey = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';
export const token = 'ghs_Yr5TqPz8WmKx3NvB7LdCj2FhGs9Ea4Uo6Ri';
/** Beyond 2^53: digits must not be lost, and no other number of a log looks like it. */
const firstKeyId = 9_007_199_254_740_993n;
export const ownRun = '9876543210';
export const repositoryId = '123456789';

export interface RunningServices extends Services {
  readonly close: () => Promise<void>;
}

/** A control plane and a GitHub of the run's own. */
export async function startServices({ service }: Subject): Promise<RunningServices> {
  const options = { projects: 1, operations: 3, ...service, apiKey: parentKey, firstKeyId };
  const [control, github] = await Promise.all([
    startControlPlane(options),
    startGitHub({ token, repository: 'acme/shop', repositoryId }),
  ]);
  github.addRun({ id: ownRun });
  addOthers(control.plane);
  return {
    control,
    github,
    projectId: control.projectIds[0] ?? '',
    close: async () => {
      await Promise.all([control.close(), github.close()]);
    },
  };
}

/** Keys that are none of the run's business; one has nearly such a name. */
function addOthers(plane: ControlPlane): void {
  for (const name of ['another tool', 'shop-run9876543210-1-aaaaaaaaaa-aaaaaaaaaaaa']) plane.addKey(name);
}

/** The key that a run will make, known beforehand: the plane's dice fall alike every time. */
export function keyToCome(): ApiKey {
  const { plane } = createControlPlane({ apiKey: parentKey, firstKeyId });
  addOthers(plane);
  return plane.addKey('');
}
