import type { FaultRule, Operation, OperationPlan } from '../../../control-plane/index.js';
import { uuid } from '../../../control-plane/random.js';
import type { Chance } from '../chance.js';
import type { OutsideEvent } from '../plan.js';
import type { Fields } from '../record.js';
import type { Stage } from '../stage.js';
import { endOf, maxLag } from '../truth.js';
import { admitting, drawFilter, type Task } from './lists.js';

const outcomes = ['finished', 'finished', 'finished', 'finished', 'failed', 'skipped', 'error', 'cancelled'];
const filters = ['action=create_branch', 'action!=start_*', 'branch_id=br-b*\naction=*_*', 'action=suspend_*'];
/** The service starts these by itself. They count only if an `action=` line matches them. */
const automaticActions = [
  ...['suspend_compute', 'check_availability', 'tenant_detach', 'tenant_reattach', 'timeline_archive'],
  'timeline_unarchive',
] as const;

function counting(filter: string): (record: Fields) => boolean {
  const admits = admitting(filter);
  const isAutomatic = ({ action }: Fields) => automaticActions.some((one) => one === action);
  return (record) => admits(record) && (!isAutomatic(record) || /^action=/m.test(filter));
}

function drawOperation(chance: Chance, timeoutMs: number, isGood = false): OperationPlan {
  const span = timeoutMs || 2_000;
  const lengthMs = chance.pick([
    chance.upTo(3_000),
    chance.upTo(span),
    chance.upTo(span),
    Math.max(0, span - chance.upTo(3_000)),
    span + chance.upTo(900),
    chance.odds(0.3) ? Number.POSITIVE_INFINITY : chance.below(span),
  ]);
  const outcome = isGood ? 'finished' : chance.pick(outcomes);
  const running = chance.pick(['running', 'running', 'running', 'running', 'cancelling', 'paused', 'queued']);
  const end = Number.isFinite(lengthMs) ? [{ afterMs: lengthMs, status: outcome }] : [];
  return {
    action: chance.odds(0.7) ? chance.pick(['create_branch', 'start_compute']) : chance.pick(automaticActions),
    course: [
      { afterMs: 0, status: 'scheduling' },
      { afterMs: chance.upTo(Math.min(lengthMs, span)), status: running },
      ...end,
    ],
    outcome,
    ...(chance.odds(0.05) ? { vanishesAfterMs: chance.upTo(span) } : {}),
    ...(chance.odds(0.1) ? { ageMs: chance.below(20_000) } : {}),
  };
}

export function drawWait(chance: Chance, stage: Stage, { startsAtMs }: Task) {
  const { plane } = stage;
  const isAll = chance.odds(0.5);
  const seconds = chance.pick(isAll ? [0, 30, 30, 60, 600] : [0, 0, 1, 3, 3, 10, 10, 30, 30, 60, 600]);
  const timeoutMs = seconds * 1_000;
  const failFast = timeoutMs === 0 || chance.odds(0.6);
  const failOnEmpty = chance.odds(0.2);
  const projectIds = plane.projectIds.slice(0, isAll ? chance.pick([1, 1, 1, 2, 3]) : 1);
  const [projectId = ''] = projectIds;
  const filter = isAll ? drawFilter(chance, filters) : '';
  const counts = counting(filter);
  const since = isAll ? chance.pick([undefined, undefined, 5_000, 30_000, 600_000]) : undefined;
  const sinceMs = since ?? 60_000;
  // More than are requested at once, and too old for the newest 200.
  const isCrowd = !isAll && chance.odds(0.02);
  const areGood = chance.odds(0.3);
  const number = isCrowd ? 40 : isAll && chance.odds(0.2) ? 0 : chance.pick([1, 1, 2, 2, 3, 5, 8]);
  // The request for one of two hangs, and must not delay the failure of the other.
  const isHanging = !isAll && !isCrowd && chance.odds(0.15);
  const pair = [{ lengthMs: Number.POSITIVE_INFINITY }, { lengthMs: chance.upTo(timeoutMs), outcome: 'failed' }];
  const plans = isHanging ? pair : chance.times(number, () => drawOperation(chance, timeoutMs, areGood));
  const operations = plans.map((plan) => stage.start({ projectId: chance.pick(projectIds), ...plan }));
  const hanging = isHanging ? operations.slice(0, 1) : [];
  if (isAll && chance.odds(0.5)) drawFollowUps(chance, stage, operations, timeoutMs);
  // One that ended before the step, on both sides of `since`.
  if (isAll && chance.odds(0.4)) {
    const ageMs = chance.below(sinceMs * 1.2) + 10;
    const outcome = chance.pick(['finished', 'failed', 'error', 'skipped']);
    stage.start({ projectId, ageMs, lengthMs: chance.below(Math.min(ageMs, 9_000)), outcome });
  }
  if (isCrowd) chance.times(210, () => plane.startOperation({ projectId, lengthMs: 0 }));
  // An unusable record of another operation makes the list unusable.
  if (!isAll && chance.odds(0.05)) plane.startOperation({ projectId, lengthMs: 0, fields: { status: null } });
  const newcomers = chance.times(isAll || chance.odds(0.2) ? chance.pick([0, 1, 2, 3]) : 0, (): OutsideEvent => {
    const plan = { ...drawOperation(chance, timeoutMs), projectId: chance.pick(projectIds), ageMs: 0 };
    return startLater(startsAtMs + chance.upTo(Math.max(6_000, timeoutMs)), [plan]);
  });
  const removal = chance.sometimes(0.05, () => ({
    atMs: startsAtMs + chance.upTo(20_000),
    what: 'the project is removed',
    run: () => plane.removeProject(projectId),
  }));
  const ids = idsOf(chance, operations);
  const json = JSON.stringify(ids);
  const asText = chance.pick([json, json, ids.join(), ids.join(' '), ids.join('\n')]);
  return {
    timeoutMs,
    inputs: {
      'project-id': projectIds.length === 1 && chance.odds(0.8) ? projectId : JSON.stringify(projectIds),
      'fail-fast': String(failFast),
      'poll-interval': timeoutMs > 3_000 ? chance.pick(['auto', 'auto', 'auto', '1s', '3s']) : 'auto',
      filter,
      since: since === undefined ? '' : `${since}ms`,
      'fail-on': failOnEmpty ? 'empty' : '',
      'operation-id': isAll ? 'all' : asText,
    },
    expects: {
      mode: 'wait-operation' as const,
      ids: isAll ? ('all' as const) : ids,
      projectIds,
      failFast,
      filter: counts,
      sinceMs,
      failOnEmpty,
    },
    events: [
      ...newcomers,
      ...removal,
      ...chance.sometimes(0.25, () => startLater(chance.below(12_000), drawTraffic(chance, stage, projectId, counts))),
    ],
    /** If there are some, the run has no others. */
    faults: hanging.map(
      ({ id }): FaultRule => ({ path: id, from: chance.pick([1, 2]), fault: { kind: 'hang-before-headers' } }),
    ),
  };
}

/** They begin when another operation ends. A list shows them up to 4 s late, that of its replica included. */
function drawFollowUps(chance: Chance, stage: Stage, operations: readonly Operation[], timeoutMs: number): void {
  for (const first of operations) {
    let parent = first;
    for (let length = chance.pick([0, 1, 1, 2]); length > 0 && endOf(parent).phase === 'good'; length--) {
      const late = maxLag - stage.lags.operations;
      const appearsAfterMs = chance.pick([0, chance.from(0, late), late]);
      const { vanishesAfterMs: _, ...plan } = drawOperation(chance, Math.min(timeoutMs, 10_000));
      parent = stage.follow(parent, { ...plan, ageMs: stage.now - endOf(parent).at, appearsAfterMs });
    }
  }
}

type Start = Parameters<Stage['start']>[0];

function startLater(atMs: number, plans: readonly Start[]): OutsideEvent {
  const run = (stage: Stage) => {
    for (const plan of plans) if (stage.plane.hasProject(plan.projectId)) stage.start(plan);
  };
  return { atMs, what: `${plans.length} operations are started: ${JSON.stringify(plans[0])}`, run };
}

/** Inserted at once, with times in the future: one in the middle may hide. */
function drawTraffic(
  chance: Chance,
  { plane }: Stage,
  projectId: string,
  counts: (record: Fields) => boolean,
): Start[] {
  const forMs = chance.pick([1_000, 4_000, 15_000]);
  // Small pages would take too many requests.
  const perSecond = Math.min(chance.pick([5, 100, 100]), plane.notShown.maximumPageSize);
  const action = ['suspend_compute', 'start_compute'].find((one) => !counts({ action: one, branch_id: 'br-x' }));
  const isAwaited = action === undefined || chance.odds(0.5);
  const plan = isAwaited ? { lengthMs: 0 } : { action, branchId: 'br-x', lengthMs: chance.pick([0, 500, 60_000]) };
  const hidden = { projectId, ...drawOperation(chance, forMs), ageMs: -forMs / 2 };
  const number = (perSecond * forMs) / 1_000;
  const crowd = chance.times(number, (index) => ({ projectId, ...plan, ageMs: (-index * 1_000) / perSecond }));
  return [hidden, ...crowd];
}

/** Sometimes none, or one more that does not exist. */
function idsOf(chance: Chance, operations: readonly Operation[]): string[] {
  return [...operations.map(({ id }) => id), ...chance.sometimes(0.06, () => uuid(chance.random))];
}
