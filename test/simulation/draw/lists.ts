import type { Chance } from '../chance.js';
import type { Expectation, OutsideEvent } from '../plan.js';
import type { Stage } from '../stage.js';
import { drawFilter, text } from './filter.js';

export interface Drawn {
  readonly inputs: Record<string, string>;
  readonly expects: Expectation;
  readonly events: OutsideEvent[];
  readonly clockAheadMs?: number;
}

/** What a step is drawn for. `shard`: empty if it lists all projects. */
export interface Task {
  readonly timeoutMs: number;
  readonly startsAtMs: number;
  readonly temp: string;
  readonly shard: string;
}

/** The runner obeys it in any line that a later step prints. */
const command = '##[error]';

/** The stage sends such an id as a number. */
const ofDigits = '9007199254740993';

function drawFailOn(chance: Chance): string {
  return chance.pick(['', '', '', 'empty', 'match']);
}

function nonEmpty(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== ''));
}

export function drawListOperations(chance: Chance, stage: Stage, { startsAtMs }: Task): Drawn {
  const { plane } = stage;
  const projectId = plane.projectIds[0] ?? '';
  chance.times(chance.pick([0, 4, 12]), () =>
    plane.startOperation({
      projectId,
      action: chance.pick(['create_branch', 'start_compute']),
      lengthMs: chance.below(9_000),
      ageMs: chance.below(7_200_000),
    }),
  );
  const [filter, admits] = drawFilter(chance, [
    ['action=create_branch', (record) => text(record, 'action') === 'create_branch'],
    ['action!=c*', (record) => !text(record, 'action').startsWith('c')],
    ['id=????????-*', () => true],
    ['action=nothing', () => false],
  ]);
  const limit = chance.pick(['', '', '0', '1', '4', '10', '150']);
  const since = chance.pick(['', '', '1h', '90s']);
  const failOn = drawFailOn(chance);
  const events = chance.times(chance.pick([0, 0, 1, 3]), () => ({
    atMs: startsAtMs + chance.upTo(4_000),
    what: 'an operation is started',
    run: () => void plane.startOperation({ projectId }),
  }));
  const areIdsUsable = chance.odds(0.95);
  if (!areIdsUsable)
    plane.startOperation({ projectId, fields: { id: chance.pick(['::error::x', `x ${command}`, 'a\nb']) } });
  return {
    clockAheadMs: chance.pick([0, 0, 7_200_000, -7_200_000, 100_000]),
    inputs: nonEmpty({ 'project-id': projectId, filter, limit, since, 'fail-on': failOn }),
    expects: {
      mode: 'list-operations',
      projectId,
      limit: limit === '' ? 100 : Number(limit),
      isLimitSet: limit !== '',
      areIdsUsable,
      sinceMs: since === '' ? undefined : since === '1h' ? 3_600_000 : 90_000,
      filter: admits,
      failOn,
    },
    events,
  };
}

export function drawListProjects(chance: Chance, stage: Stage, { startsAtMs, shard }: Task): Drawn {
  const { plane } = stage;
  const [filter, admits] = drawFilter(chance, [
    ['region_id=cloud-eu-*', (record) => text(record, 'region_id').startsWith('cloud-eu-')],
    ['pg_version!=14', (record) => record['pg_version'] !== 14],
    ['name=nobody', () => false],
  ]);
  if (chance.odds(0.3) && !plane.hasProject(ofDigits)) plane.addProject({ id: ofDigits, name: command });
  const limit = shard === '' ? chance.pick(['', '', '0', '1', '5']) : '';
  const maxBatches = chance.pick(['', '', '1', '2', '5', '256']);
  const failOn = shard === '' ? drawFailOn(chance) : '';
  const events = chance.times(chance.pick([0, 0, 1, 3]), () => {
    const others = plane.projectIds;
    const leaving = others[chance.below(others.length)] ?? '';
    const comes = chance.odds(0.5);
    return {
      atMs: startsAtMs + chance.upTo(4_000),
      what: comes ? 'a project is made' : `project ${leaving} is removed`,
      run: () => (comes ? void plane.addProject() : plane.removeProject(leaving)),
    };
  });
  return {
    inputs: nonEmpty({ filter, limit, shard, 'max-batches': maxBatches, 'fail-on': failOn }),
    expects: {
      mode: 'list-projects',
      limit: Number(limit),
      isLimitSet: limit !== '',
      maxBatches: Number(maxBatches || 256),
      shard,
      filter: admits,
      failOn,
    },
    events,
  };
}

export function drawListKeys(chance: Chance, stage: Stage, { startsAtMs }: Task): Drawn {
  const { plane } = stage;
  chance.times(chance.pick([0, 1, 3, 8]), (index) =>
    plane.addKey(chance.pick(['ci', 'deploy', `shop-${index}`, `docs ${command}`])),
  );
  const [filter, admits] = drawFilter(chance, [
    ['name=ci', (record) => text(record, 'name') === 'ci'],
    ['name!=shop-*', (record) => !text(record, 'name').startsWith('shop-')],
    ['name=nobody', () => false],
  ]);
  const limit = chance.pick(['', '0', '1', '3']);
  const failOn = drawFailOn(chance);
  const events = chance.times(chance.pick([0, 0, 1, 2]), () => {
    const keys = plane.aliveKeys();
    const leaving = keys[chance.from(1, keys.length)]?.id ?? '';
    const comes = chance.odds(0.5);
    return {
      atMs: startsAtMs + chance.upTo(4_000),
      what: comes ? 'a key is made by another' : `key ${leaving} is revoked by another`,
      run: (at: Stage) => (comes ? void plane.addKey('late') : at.revokeAsAnother(leaving)),
    };
  });
  return {
    inputs: nonEmpty({ filter, limit, 'fail-on': failOn }),
    expects: { mode: 'list-keys', limit: Number(limit), isLimitSet: limit !== '', filter: admits, failOn },
    events,
  };
}
