import type { Chance } from '../chance.js';
import type { OutsideEvent } from '../plan.js';
import type { Fields } from '../record.js';
import type { Stage } from '../stage.js';
import { makeKey, revocation } from './keys.js';

export interface Task {
  readonly startsAtMs: number;
}

export function drawFilter(chance: Chance, filters: readonly string[]): string {
  return chance.odds(0.3) ? chance.pick(filters) : '';
}

/** What the filter admits, without the action's code. */
export function admitting(filter: string): (record: Fields) => boolean {
  const lines = filter.split('\n').filter((line) => line !== '');
  return (record) =>
    lines.every((line) => {
      const [, field = '', sign, pattern = ''] = /^(\w+)(!?=)(.+)$/.exec(line) ?? [];
      const whole = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      return whole.test(String(record[field] ?? '')) === (sign === '=');
    });
}

/** All lists have these inputs, and changes in the first seconds of the step. */
function drawList(chance: Chance, { startsAtMs }: Task, filters: string[], limits: string[], change: Change) {
  const filter = drawFilter(chance, filters);
  const limit = chance.pick(limits);
  const failOn = chance.pick(['', '', '', 'empty', 'match']);
  return {
    inputs: { filter, limit, 'fail-on': failOn },
    expects: { limit: Number(limit), isLimitSet: limit !== '', filter: admitting(filter), failOn },
    events: chance.times(chance.pick([0, 0, 1, 3]), () => change(startsAtMs + chance.upTo(4_000))),
  };
}

type Change = (atMs: number) => OutsideEvent;

export function drawListOperations(chance: Chance, { plane }: Stage, task: Task) {
  const projectId = plane.projectIds[0] ?? '';
  chance.times(chance.pick([0, 4, 12]), () =>
    plane.startOperation({
      projectId,
      action: chance.pick(['create_branch', 'start_compute']),
      lengthMs: chance.below(9_000),
      ageMs: chance.below(7_200_000),
    }),
  );
  const filters = ['action=create_branch', 'action!=c*', 'id=????????-*', 'action=nothing'];
  const { inputs, expects, events } = drawList(chance, task, filters, ['', '', '0', '1', '4', '10', '150'], (atMs) => ({
    atMs,
    what: 'an operation is started',
    run: () => void plane.startOperation({ projectId }),
  }));
  const [since, sinceMs] = chance.pick([[''], [''], ['1h', 3_600_000], ['90s', 90_000]] as const);
  const limit = expects.isLimitSet || since !== '' || expects.failOn !== '' ? expects.limit : 100;
  return {
    inputs: { ...inputs, 'project-id': projectId, since },
    expects: { mode: 'list-operations' as const, ...expects, limit, projectId, sinceMs },
    events,
  };
}

export function drawListProjects(chance: Chance, { plane }: Stage, task: Task) {
  const filters = ['region_id=cloud-eu-*', 'pg_version!=14', 'name=nobody'];
  const drawn = drawList(chance, task, filters, ['', '', '0', '1', '5'], (atMs) => {
    const leaving = chance.odds(0.5) ? plane.projectIds[chance.below(plane.projectIds.length)] : undefined;
    return leaving === undefined
      ? { atMs, what: 'a project is made', run: () => void plane.addProject() }
      : { atMs, what: `project ${leaving} is removed`, run: () => plane.removeProject(leaving) };
  });
  return { ...drawn, expects: { mode: 'list-projects' as const, ...drawn.expects } };
}

export function drawListKeys(chance: Chance, { plane }: Stage, task: Task) {
  chance.times(chance.pick([0, 1, 3, 8]), (index) => plane.addKey(chance.pick(['ci', 'deploy', `shop-${index}`])));
  const filters = ['name=ci', 'name!=shop-*', 'name=nobody'];
  const drawn = drawList(chance, task, filters, ['', '0', '1', '3'], (atMs) => {
    const others = plane.aliveKeys().slice(1);
    const leaving = others[chance.below(others.length)]?.id;
    return leaving === undefined || chance.odds(0.5)
      ? makeKey(atMs, 'late')
      : revocation(atMs, `key ${leaving}`, () => leaving);
  });
  return { ...drawn, expects: { mode: 'list-keys' as const, ...drawn.expects } };
}
