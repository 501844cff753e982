import type { OperationPlan } from '../../../control-plane/index.js';
import { uuid } from '../../../control-plane/random.js';
import type { Chance } from '../chance.js';
import type { OutsideEvent } from '../plan.js';
import type { Fields } from '../record.js';
import type { Stage } from '../stage.js';
import { endOf, maxLag } from '../truth.js';

const outcomes = ['finished', 'finished', 'finished', 'finished', 'failed', 'skipped', 'error', 'cancelled'];
const runningWords = ['running', 'running', 'running', 'running', 'cancelling', 'paused', 'queued'];
/** The service starts these by itself. They count only if an `action=` line matches them. */
const automaticActions = ['suspend_compute', 'check_availability', 'tenant_detach', 'timeline_archive'];
/** Of a wait for all, and which operations count by them, without the action's code. */
const filters: readonly (readonly [lines: string, admits: (record: Fields) => boolean])[] = [
  ['action=create_branch', ({ action }) => action === 'create_branch'],
  ['action!=start_*', ({ action }) => !`${action}`.startsWith('start_') && !isAutomatic(action)],
  ['action=suspend_*', ({ action }) => action === 'suspend_compute'],
];

function isAutomatic(action: unknown): boolean {
  return automaticActions.some((one) => one === action);
}

function drawOperation(chance: Chance, span: number, isGood = false): OperationPlan {
  const lengthMs = chance.pick([
    chance.upTo(3_000),
    chance.upTo(span),
    chance.upTo(span),
    Math.max(0, span - chance.upTo(3_000)),
    span + chance.upTo(900),
    chance.odds(0.3) ? Number.POSITIVE_INFINITY : chance.below(span),
  ]);
  const outcome = isGood ? 'finished' : chance.pick(outcomes);
  return {
    action: chance.odds(0.7) ? chance.pick(['create_branch', 'start_compute']) : chance.pick(automaticActions),
    course: [
      { afterMs: 0, status: 'scheduling' },
      { afterMs: chance.upTo(Math.min(lengthMs, span)), status: chance.pick(runningWords) },
      ...(Number.isFinite(lengthMs) ? [{ afterMs: lengthMs, status: outcome }] : []),
    ],
    ...(chance.odds(0.1) ? { ageMs: chance.below(20_000) } : {}),
  };
}

export function drawWait(chance: Chance, stage: Stage, startsAtMs: number) {
  const { plane } = stage;
  const isAll = chance.odds(0.5);
  const seconds = chance.pick(isAll ? [0, 30, 30, 60, 600] : [0, 0, 1, 3, 3, 10, 10, 30, 30, 60, 600]);
  const timeoutMs = seconds * 1_000;
  const span = timeoutMs || 2_000;
  const failFast = timeoutMs === 0 || chance.odds(0.6);
  const projectIds = plane.projectIds.slice(0, isAll ? chance.pick([1, 1, 1, 2, 3]) : 1);
  const [projectId = ''] = projectIds;
  const [filter, admits] =
    isAll && chance.odds(0.3) ? chance.pick(filters) : ['', ({ action }: Fields) => !isAutomatic(action)];
  const sinceMs: number = chance.pick([60_000, 60_000, 5_000, 30_000, 600_000]);
  const number = isAll && chance.odds(0.2) ? 0 : chance.pick([1, 1, 2, 2, 3, 5, 8]);
  const areGood = chance.odds(0.3);
  const operations = chance.times(number, () =>
    stage.start({ projectId: chance.pick(projectIds), ...drawOperation(chance, span, areGood) }),
  );
  if (isAll && chance.odds(0.5)) drawFollowUps(chance, stage, Math.min(span, 10_000));
  // One that ended before the step, on both sides of `since`.
  if (isAll && chance.odds(0.4)) {
    const ageMs = chance.below(sinceMs * 1.2) + 10;
    const outcome = chance.pick(['finished', 'failed', 'error', 'skipped']);
    stage.start({ projectId, ageMs, lengthMs: chance.below(Math.min(ageMs, 9_000)), outcome });
  }
  const events = chance.times(isAll || chance.odds(0.2) ? chance.pick([0, 1, 2, 3]) : 0, (): OutsideEvent => {
    const plan = { ...drawOperation(chance, span), projectId: chance.pick(projectIds), ageMs: 0 };
    // Many that do not count can hide one. Small pages would take too many requests.
    const crowd = chance.pick([0, 0, 0, plane.notShown.maximumPageSize > 7 ? 400 : 20]);
    const run = () => {
      const other = { projectId, action: 'check_availability', lengthMs: 0 };
      for (let left = crowd; left > 0; left--) plane.startOperation(other);
      stage.start(plan);
    };
    const atMs = startsAtMs + chance.upTo(Math.max(6_000, timeoutMs));
    return { atMs, what: `${crowd} others are started, and ${JSON.stringify(plan)}`, run };
  });
  const ids = [...operations.map(({ id }) => id), ...chance.sometimes(0.06, () => uuid(chance.random))];
  return {
    timeoutMs,
    inputs: {
      'project-id': JSON.stringify(projectIds),
      'fail-fast': String(failFast),
      filter,
      since: isAll ? `${sinceMs}ms` : '',
      'operation-id': isAll ? 'all' : ids.join(' '),
    },
    expects: {
      mode: 'wait-operation' as const,
      ids: isAll ? ('all' as const) : ids,
      projectIds,
      failFast,
      filter: admits,
      sinceMs,
    },
    events,
  };
}

/** They begin when another operation ends. A list shows them up to 4 s late, that of its replica included. */
function drawFollowUps(chance: Chance, stage: Stage, span: number): void {
  for (const first of [...stage.operations]) {
    let parent = first;
    for (let length = chance.pick([0, 1, 1, 2]); length > 0 && endOf(parent).phase === 'good'; length--) {
      const late = maxLag - stage.lags.operations;
      const appearsAfterMs = chance.pick([0, chance.from(0, late), late]);
      parent = stage.follow(parent, { ...drawOperation(chance, span), appearsAfterMs });
    }
  }
}
