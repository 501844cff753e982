import { formatTimestamp, type Micros } from './timestamp.js';

/** From so long after its creation on, the operation has this status. */
export interface CourseStep {
  readonly afterMs: number;
  readonly status: string;
}

export type Course = readonly [CourseStep, ...CourseStep[]];

export interface Operation {
  readonly id: string;
  readonly projectId: string;
  readonly branchId: string;
  readonly endpointId: string | undefined;
  readonly action: string;
  readonly createdMicros: Micros;
  /** In order of time. This and the count are replaced when the operation is ended by hand. */
  course: Course;
  failuresCount: number;
  readonly appearsAfterMs: number;
  readonly vanishesAfterMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** What was shown last; it stays right as long as the step does. */
  shown: { readonly step: CourseStep; readonly json: string } | undefined;
}

/** How a new operation is to go. */
export interface OperationPlan {
  readonly id?: string;
  /** Any word; `create_branch` when not given. */
  readonly action?: string;
  /** From creation to the end; `Infinity` never ends by itself. */
  readonly lengthMs?: number;
  /** Time in `scheduling`; a tenth of the length, at most 500 ms, when not given. */
  readonly schedulingMs?: number;
  /** The last status: `finished`, `failed`, or any other word. */
  readonly outcome?: string;
  /** Shown once the last status is reached, 0 until then. 1 for `failed` and `error` when not given. */
  readonly failuresCount?: number;
  readonly branchId?: string;
  /** null: no endpoint. When not given, the action decides. */
  readonly endpointId?: string | null;
  /** Replaces `lengthMs`, `schedulingMs` and `outcome` where three steps are not enough. */
  readonly course?: Course;
  /** Created so long ago. */
  readonly ageMs?: number;
  /** Unknown to the API until then, as an operation is that has not reached the replica that is asked. */
  readonly appearsAfterMs?: number;
  /** Unknown to the API from then on. */
  readonly vanishesAfterMs?: number;
  /** Laid over the record; `undefined` takes a field away. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export function courseOf(plan: OperationPlan): Course {
  if (plan.course) return plan.course;
  const { lengthMs = 1000, outcome = 'finished' } = plan;
  const { schedulingMs = Math.min(lengthMs / 10, 500) } = plan;
  return [
    { afterMs: 0, status: 'scheduling' },
    { afterMs: schedulingMs, status: 'running' },
    { afterMs: lengthMs, status: outcome },
  ];
}

/** As many as an end with that status needs. */
export function failuresFor(status: string): number {
  return status === 'failed' || status === 'error' ? 1 : 0;
}

/** The course cut off now, with one last status. */
export function endedCourse(operation: Operation, now: number, status: string): Course {
  const elapsed = elapsedMs(operation.createdMicros, now);
  const [first, ...later] = operation.course;
  return [first, ...later.filter(({ afterMs }) => afterMs <= elapsed), { afterMs: elapsed, status }];
}

export function isVisible(operation: Operation, now: number): boolean {
  const elapsed = elapsedMs(operation.createdMicros, now);
  return elapsed >= operation.appearsAfterMs && elapsed < operation.vanishesAfterMs;
}

/** Nothing but the time of looking moves an operation, so no timer has to. */
export function stepAt({ course, createdMicros }: Operation, now: number): CourseStep {
  const elapsed = elapsedMs(createdMicros, now);
  return course.findLast(({ afterMs }) => afterMs <= elapsed) ?? course[0];
}

/** The operation as the API shows it at that time. */
export function operationJson(operation: Operation, now: number): string {
  const step = stepAt(operation, now);
  if (operation.shown?.step !== step) operation.shown = { step, json: JSON.stringify(recordAt(operation, step)) };
  return operation.shown.json;
}

function recordAt(operation: Operation, step: CourseStep): Readonly<Record<string, unknown>> {
  return {
    id: operation.id,
    project_id: operation.projectId,
    branch_id: operation.branchId,
    endpoint_id: operation.endpointId,
    action: operation.action,
    status: step.status,
    failures_count: step === operation.course.at(-1) ? operation.failuresCount : 0,
    created_at: formatTimestamp(operation.createdMicros),
    updated_at: formatTimestamp(operation.createdMicros + step.afterMs * 1000),
    ...operation.fields,
  };
}

/** Moments are made unique by some microseconds, which may lie ahead of the clock. */
function elapsedMs(createdMicros: Micros, now: number): number {
  return Math.max(0, now - createdMicros / 1000);
}
