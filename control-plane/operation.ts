import { formatTimestamp, type Micros } from './timestamp.js';

/** The operation has this status from so long after its creation. */
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
  /** In order of time. A test that ends the operation replaces this and the count. */
  course: Course;
  failuresCount: number;
  readonly appearsAfterMs: number;
  readonly listedAfterMs: number;
  readonly vanishesAfterMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The last JSON, valid for the same step. */
  shown: { readonly step: CourseStep; readonly json: string } | undefined;
}

/** The course of a new operation. */
export interface OperationPlan {
  readonly id?: string;
  /** Any word. Default: `create_branch`. */
  readonly action?: string;
  /** From creation to the end; `Infinity` never ends by itself. */
  readonly lengthMs?: number;
  /** Time in `scheduling`. Default: a tenth of the length, at most 500 ms. */
  readonly schedulingMs?: number;
  /** The last status: `finished`, `failed`, or any other word. */
  readonly outcome?: string;
  /** Shown with the last status, 0 before. Default: 1 for `failed` and `error`. */
  readonly failuresCount?: number;
  readonly branchId?: string;
  /** Replaces `lengthMs`, `schedulingMs` and `outcome` if three steps are not enough. */
  readonly course?: Course;
  /** Created so long ago. */
  readonly ageMs?: number;
  /** The API does not show it before, as a replica that lags behind. */
  readonly appearsAfterMs?: number;
  /** The list does not show it before; a single request does. */
  readonly listedAfterMs?: number;
  /** The API does not show it from then on. */
  readonly vanishesAfterMs?: number;
  /** Replace fields of the record. `undefined` removes one. */
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

/** The default number of failures for a last status. */
export function failuresFor(status: string): number {
  return status === 'failed' || status === 'error' ? 1 : 0;
}

/** The course until now, and then one last status. */
export function endedCourse(operation: Operation, now: number, status: string): Course {
  const elapsed = elapsedMs(operation.createdMicros, now);
  const [first, ...later] = operation.course;
  return [first, ...later.filter(({ afterMs }) => afterMs <= elapsed), { afterMs: elapsed, status }];
}

export function isVisible(operation: Operation, now: number): boolean {
  const elapsed = now - operation.createdMicros / 1000;
  return elapsed + aheadMs >= operation.appearsAfterMs && elapsed < operation.vanishesAfterMs;
}

export function isListed(operation: Operation, now: number): boolean {
  return now - operation.createdMicros / 1000 + aheadMs >= operation.listedAfterMs;
}

/** The status depends only on the time, so no timer is needed. */
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
    total_duration_ms: Math.round(step.afterMs),
    ...operation.fields,
  };
}

/** Extra microseconds make moments unique, so a moment may be so far ahead of the clock. */
const aheadMs = 10;

function elapsedMs(createdMicros: Micros, now: number): number {
  return Math.max(0, now - createdMicros / 1000);
}
