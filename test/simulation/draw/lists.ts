import type { FaultRule } from '../../../control-plane/index.js';
import type { Chance } from '../chance.js';
import type { Expectation, OutsideEvent, RecordFilter } from '../plan.js';
import type { Stage } from '../stage.js';
import { makeKey, revocation } from './keys.js';

export interface Drawn {
  readonly inputs: Record<string, string>;
  readonly expects: Expectation;
  readonly events: OutsideEvent[];
  /** If it has some, there are no others. */
  readonly faults?: readonly FaultRule[];
}

/** What a step is drawn for. */
export interface Task {
  readonly timeoutMs: number;
  readonly startsAtMs: number;
}

export function drawFilter(chance: Chance, filters: readonly string[]): string {
  return chance.odds(0.3) ? chance.pick(filters) : '';
}

/** What the filter admits, without the action's code. */
export function admitting(filter: string): RecordFilter {
  const lines = filter.split('\n').filter((line) => line !== '');
  return (record) =>
    lines.every((line) => {
      const [, field = '', sign, pattern = ''] = /^(\w+)(!?=)(.+)$/.exec(line) ?? [];
      const whole = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      return whole.test(String(record[field] ?? '')) === (sign === '=');
    });
}

/** All lists have these inputs. */
function drawList(chance: Chance, filters: readonly string[], limits: readonly string[]) {
  const filter = drawFilter(chance, filters);
  const limit = chance.pick(limits);
  const failOn = chance.pick(['', '', '', 'empty', 'match']);
  return {
    inputs: { filter, limit, 'fail-on': failOn },
    expects: { limit: Number(limit), isLimitSet: limit !== '', filter: admitting(filter), failOn },
  };
}

/** Changes in the first seconds of the step. */
function drawEvents(chance: Chance, startsAtMs: number, draw: (atMs: number) => OutsideEvent): OutsideEvent[] {
  return chance.times(chance.pick([0, 0, 1, 3]), () => draw(startsAtMs + chance.upTo(4_000)));
}

export function drawListOperations(chance: Chance, { plane }: Stage, { startsAtMs }: Task): Drawn {
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
  const { inputs, expects } = drawList(chance, filters, ['', '', '0', '1', '4', '10', '150']);
  const since = chance.pick(['', '', '1h', '90s'] as const);
  return {
    inputs: { ...inputs, 'project-id': projectId, since },
    expects: {
      mode: 'list-operations',
      ...expects,
      limit: expects.isLimitSet || since !== '' ? expects.limit : 100,
      projectId,
      sinceMs: { '': undefined, '1h': 3_600_000, '90s': 90_000 }[since],
    },
    events: drawEvents(chance, startsAtMs, (atMs) => ({
      atMs,
      what: 'an operation is started',
      run: () => void plane.startOperation({ projectId }),
    })),
  };
}

export function drawListProjects(chance: Chance, { plane }: Stage, { startsAtMs }: Task): Drawn {
  const filters = ['region_id=cloud-eu-*', 'pg_version!=14', 'name=nobody'];
  const { inputs, expects } = drawList(chance, filters, ['', '', '0', '1', '5']);
  return {
    inputs,
    expects: { mode: 'list-projects', ...expects },
    events: drawEvents(chance, startsAtMs, (atMs) => {
      const leaving = chance.odds(0.5) ? plane.projectIds[chance.below(plane.projectIds.length)] : undefined;
      return leaving === undefined
        ? { atMs, what: 'a project is made', run: () => void plane.addProject() }
        : { atMs, what: `project ${leaving} is removed`, run: () => plane.removeProject(leaving) };
    }),
  };
}

export function drawListKeys(chance: Chance, { plane }: Stage, { startsAtMs }: Task): Drawn {
  chance.times(chance.pick([0, 1, 3, 8]), (index) => plane.addKey(chance.pick(['ci', 'deploy', `shop-${index}`])));
  const filters = ['name=ci', 'name!=shop-*', 'name=nobody'];
  const { inputs, expects } = drawList(chance, filters, ['', '0', '1', '3']);
  return {
    inputs,
    expects: { mode: 'list-keys', ...expects },
    events: drawEvents(chance, startsAtMs, (atMs) => {
      const others = plane.aliveKeys().slice(1);
      const leaving = others[chance.below(others.length)]?.id;
      return leaving === undefined || chance.odds(0.5)
        ? makeKey(atMs, 'late')
        : revocation(atMs, `key ${leaving}`, () => leaving);
    }),
  };
}
