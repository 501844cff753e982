import type { RunningControlPlane } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import type { Services, Setting, Subject } from './subject.js';

/** All that was there throughout comes once, in its order; what came meanwhile may come too. */
function listed(mode: string, output: string, ids: () => string[]): Setting {
  const throughout = ids();
  const given = ({ outputs }: StepResult) => JSON.parse(outputs[output] || '[]') as string[];
  return {
    inputs: { mode, limit: '0' },
    falsehood: ({ main }) => {
      const found = given(main.result);
      const kept = found.filter((id) => throughout.includes(id));
      if (JSON.stringify(kept) !== JSON.stringify(throughout)) return 'the list lacks records, or doubles them';
      const strangers = found.filter((id) => !ids().includes(id));
      return strangers.length > 0 ? `${strangers} were never there` : undefined;
    },
  };
}

/** Records appear while the list is read. */
function whileItIsRead({ control }: Services, requests: readonly number[], add: () => void): void {
  for (const n of requests) control.arrived({ n }).then(add, () => undefined);
}

const operationsIn = (control: RunningControlPlane, projectId: string) =>
  control.plane
    .operationTimeline(projectId)
    ?.page(undefined, Number.POSITIVE_INFINITY)
    .items.map(({ id }) => id) ?? [];

export const lists: readonly Subject[] = [
  {
    name: 'list-operations',
    service: { operations: 105 },
    set: (services) => {
      const { control, projectId } = services;
      whileItIsRead(services, [1, 2], () => control.plane.startOperation({ projectId }));
      const setting = listed('list-operations', 'operation-ids', () => operationsIn(control, projectId));
      return { ...setting, inputs: { ...setting.inputs, 'project-id': projectId } };
    },
  },
  {
    name: 'list-projects',
    service: { projects: 20 },
    set: ({ control }) => listed('list-projects', 'project-ids', () => [...control.plane.projectIds]),
  },
  {
    name: 'list-projects, in pages',
    service: { projects: 105, notShown: { projectsPageSize: 100 } },
    set: (services) => {
      const { control } = services;
      whileItIsRead(services, [1, 2], () => control.plane.addProject());
      return listed('list-projects', 'project-ids', () => [...control.plane.projectIds]);
    },
  },
  {
    name: 'list-keys',
    set: ({ control }) => {
      for (let n = 0; n < 20; n++) control.plane.addKey(`key-${n}`);
      return listed('list-keys', 'key-ids', () => control.plane.aliveKeys().map(({ id }) => id));
    },
  },
];
