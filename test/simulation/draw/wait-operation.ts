import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultRule, Operation, OperationPlan } from '../../../control-plane/index.js';
import { uuid } from '../../../control-plane/random.js';
import type { Chance } from '../chance.js';
import type { OutsideEvent, RecordFilter } from '../plan.js';
import type { Stage } from '../stage.js';
import { type Drawn, drawFilter, type Filter, type Task, text } from './lists.js';
import type { World } from './world.js';

const outcomes = ['finished', 'finished', 'finished', 'finished', 'failed', 'skipped', 'error', 'cancelled'];
/** Operations that the service starts by itself do not count without a filter that names the action. */
const countsByDefault: Filter = [
  '',
  (record) => !['suspend_compute', 'check_availability'].includes(text(record, 'action')),
];
const filters: readonly Filter[] = [
  ['action=create_branch', (record) => text(record, 'action') === 'create_branch'],
  ['action!=start_*', (record) => !text(record, 'action').startsWith('start_')],
  [
    'branch_id=br-b*\naction=*_*',
    (record) => text(record, 'branch_id').startsWith('br-b') && text(record, 'action').includes('_'),
  ],
];

const actions = [
  'create_branch',
  'create_branch',
  'start_compute',
  'apply_config',
  'suspend_compute',
  'check_availability',
];

/** It often ends near the deadline. */
function drawOperation(chance: Chance, timeoutMs: number, isGood = false): OperationPlan {
  const span = timeoutMs === 0 ? 2_000 : timeoutMs;
  const lengthMs = chance.pick([
    chance.upTo(3_000),
    chance.upTo(span),
    chance.upTo(span),
    Math.max(0, span - chance.upTo(3_000)),
    span + chance.upTo(900),
    chance.odds(0.3) ? Number.POSITIVE_INFINITY : chance.below(span),
  ]);
  const outcome = isGood ? 'finished' : chance.pick(outcomes);
  const passes = chance.odds(0.1) ? chance.pick(['cancelling', 'paused', 'queued']) : undefined;
  const end = Number.isFinite(lengthMs) ? [{ afterMs: lengthMs, status: outcome }] : [];
  return {
    action: chance.pick(actions),
    ...(passes === undefined
      ? { lengthMs, outcome }
      : {
          course: [
            { afterMs: 0, status: 'running' },
            { afterMs: chance.upTo(Math.min(lengthMs, span)), status: passes },
            ...end,
          ],
        }),
    failuresCount: outcome === 'failed' || outcome === 'error' ? 1 : 0,
    ...(chance.odds(0.05) ? { vanishesAfterMs: chance.upTo(span) } : {}),
    ...(chance.odds(0.1) ? { ageMs: chance.below(20_000) } : {}),
  };
}

export function drawWait(chance: Chance, stage: Stage, { timeoutMs, startsAtMs, temp, world }: Task): Drawn {
  const { plane } = stage;
  const failFast = chance.odds(0.6);
  const isAll = chance.odds(0.45);
  const projectIds = plane.projectIds.slice(0, isAll ? chance.pick([1, 1, 1, 2, 3]) : 1);
  const [projectId = ''] = projectIds;
  const since = isAll && chance.odds(0.3) ? chance.pick([5, 30]) : undefined;
  const isQuiet = isAll && chance.odds(0.2);
  // More than are requested at once, and too old for the newest 200.
  const isCrowd = !isAll && chance.odds(0.02);
  const areGood = chance.odds(0.3);
  const number = isQuiet ? 0 : isCrowd ? 40 : chance.pick([1, 1, 2, 2, 3, 5, 8]);
  const operations = chance.times(number, () =>
    stage.start({ projectId: chance.pick(projectIds), ...drawOperation(chance, timeoutMs, areGood) }),
  );
  if (since !== undefined && chance.odds(0.6)) operations.push(stage.start(drawEnded(chance, projectId, since)));
  if (isCrowd) chance.times(210, () => plane.startOperation({ projectId, lengthMs: 0 }));
  // An unusable record of another operation makes the list unusable.
  if (!isAll && chance.odds(0.05)) plane.startOperation({ projectId, lengthMs: 0, fields: { status: null } });
  // The request for one of two hangs, and must not delay the failure of the other.
  const faults: FaultRule[] = [];
  if (!isAll && number === 1 && chance.odds(0.35)) {
    const hanging = stage.start({ projectId, lengthMs: Number.POSITIVE_INFINITY });
    faults.push({ path: hanging.id, from: chance.pick([1, 2]), fault: { kind: 'hang-before-headers' } });
    const failing = { projectId, lengthMs: chance.upTo(timeoutMs), outcome: 'failed', failuresCount: 1 };
    operations.splice(0, 1, hanging, stage.start(failing));
  }
  const newcomers = isAll || chance.odds(0.2) ? chance.pick([0, 1, 2, 3]) : 0;
  const events = chance.times(newcomers, () => {
    const operation = drawOperation(chance, timeoutMs);
    const plan = { ...operation, projectId: chance.pick(projectIds), ageMs: 0 };
    return {
      atMs: startsAtMs + chance.upTo(Math.max(6_000, timeoutMs)),
      what: `an operation is started: ${JSON.stringify(plan)}`,
      run: () => {
        if (plane.hasProject(plan.projectId)) stage.start(plan);
      },
    };
  });
  // A new copy shows it late.
  if (isAll && chance.odds(0.3))
    stage.start({ projectId, ageMs: chance.from(70_000, 900_000), lengthMs: 100, outcome: 'failed' });
  const removal = chance.sometimes(0.05, () => ({
    atMs: startsAtMs + chance.upTo(20_000),
    what: 'the project is removed',
    run: () => plane.removeProject(projectId),
  }));
  const [filter, admits] = isAll ? drawFilter(chance, filters, countsByDefault) : countsByDefault;
  const failOnEmpty = chance.odds(0.2);
  const ids = isAll ? 'all' : idsOf(chance, operations);
  const sinceMs = since === undefined ? undefined : since * 1_000;
  return {
    inputs: {
      'project-id': projectIds.length === 1 && chance.odds(0.8) ? projectId : JSON.stringify(projectIds),
      'fail-fast': String(failFast),
      'poll-interval': chance.pick(['auto', 'auto', 'auto', '1s', '3s']),
      filter,
      since: since === undefined ? '' : `${since}s`,
      'fail-on': failOnEmpty ? 'empty' : '',
      ...inputOf(chance, ids, operations, temp),
    },
    expects: { mode: 'wait-operation', ids, projectIds, failFast, filter: admits, sinceMs, failOnEmpty },
    events: [
      ...events,
      ...removal,
      ...world.traffic.map((traffic) =>
        drawTraffic(chance, stage, projectId, traffic, admits, drawOperation(chance, timeoutMs)),
      ),
    ],
    faults,
  };
}

/** Inserted at once, with times in the future: one in the middle may hide. Small pages would take too many requests. */
function drawTraffic(
  chance: Chance,
  stage: Stage,
  projectId: string,
  { perSecond, fromMs, forMs }: World['traffic'][number],
  admits: RecordFilter,
  hidden: OperationPlan,
): OutsideEvent {
  const action = ['suspend_compute', 'start_compute'].find((one) => !admits({ action: one, branch_id: 'br-x' }));
  const isAwaited = action === undefined || chance.odds(0.5);
  const plan = isAwaited ? { lengthMs: 0 } : { action, branchId: 'br-x', lengthMs: chance.pick([0, 500, 60_000]) };
  const number = Math.min(perSecond, stage.plane.notShown.maximumPageSize) * (forMs / 1_000);
  return {
    atMs: fromMs,
    what: `${number} operations are started: ${JSON.stringify(plan)}`,
    run: () => {
      if (!stage.plane.hasProject(projectId)) return;
      stage.start({ projectId, ...hidden, ageMs: -forMs / 2 });
      chance.times(number, (index) => stage.start({ projectId, ...plan, ageMs: -(index * forMs) / number }));
    },
  };
}

/** An operation that ended shortly before the step. */
function drawEnded(chance: Chance, projectId: string, since: number): OperationPlan & { readonly projectId: string } {
  const outcome = chance.pick(['finished', 'failed', 'error', 'skipped']);
  return {
    projectId,
    action: 'create_branch',
    ageMs: chance.below(since * 1_200) + 10,
    lengthMs: chance.below(10),
    outcome,
    failuresCount: outcome === 'failed' ? 1 : 0,
  };
}

function idsOf(chance: Chance, operations: readonly Operation[]): string[] {
  if (chance.odds(0.03)) return [];
  const ids = operations.map(({ id }) => id);
  // An id that does not exist.
  return chance.odds(0.06) ? [...ids, uuid(chance.random)] : ids;
}

function inputOf(
  chance: Chance,
  ids: readonly string[] | 'all',
  operations: readonly Operation[],
  temp: string,
): Record<string, string> {
  if (ids === 'all') return { 'operation-id': 'all' };
  if (ids.length === operations.length && chance.odds(0.03)) {
    mkdirSync(temp, { recursive: true });
    const path = join(temp, `answer-${uuid(chance.random)}.json`);
    writeFileSync(
      path,
      JSON.stringify({ operations: ids.map((id) => ({ id })), connection_uris: ['postgres://u:p@h/d'] }),
    );
    return { 'response-file': path };
  }
  if (ids.length === 0) return { 'operation-id': '[]' };
  const separator = chance.pick([',', ' ', '\n']);
  return { 'operation-id': chance.odds(0.5) ? JSON.stringify(ids) : ids.join(separator) };
}
