import { timeOf } from '../../api/records.js';
import type { JsonObject } from '../../text/json.js';
import { plain } from '../../text/plain.js';
import type { Waited } from '../wait-operation.js';
import { actionOf, branchOf, failuresOf, lengthInWords, spanOf, statusOf } from './describe.js';
import type { Watched } from './roster.js';
import { type Phase, phaseOf } from './status.js';
import { isFailed, isPending } from './verdict.js';

/** One operation as a reader of the summary sees it; all texts are plain, but not yet escaped. */
export interface Row {
  readonly id: string;
  readonly phase: Phase;
  readonly action: string;
  readonly branch: string;
  readonly status: string;
  readonly length: string;
  readonly failures: string;
  readonly span: { readonly from: number; readonly to: number } | undefined;
}

/** What needs a look comes first. */
export function rowsOf({ watched }: Waited, date: number): Row[] {
  const rows = watched.map((one) => rowOf(one, date));
  const urgency: Record<Phase, number> = { failed: 0, pending: 1, succeeded: 2 };
  return rows.sort((one, other) => urgency[one.phase] - urgency[other.phase]);
}

export function rowOf({ id, operation }: Watched, date: number): Row {
  if (operation === undefined) {
    return {
      id: plain(id, 80),
      phase: 'pending',
      action: '',
      branch: '',
      status: 'never seen',
      length: '',
      failures: '',
      span: undefined,
    };
  }
  return {
    id: plain(id, 80),
    phase: phaseOf(operation.status),
    action: actionOf(operation),
    branch: branchOf(operation) ?? '',
    status: statusOf(operation),
    length: lengthInWords(operation, date) ?? '',
    failures: failuresOf(operation) ?? '',
    span: spanOf(operation, date),
  };
}

/** The operation that decided the result; else the newest. */
export function decidingId({ verdict, watched }: Waited): string | undefined {
  const decided =
    verdict === 'failed' ? watched.find(isFailed) : verdict === 'finished' ? undefined : watched.find(isPending);
  return (decided ?? watched.reduce(newer, watched[0]))?.id;
}

function newer(one: Watched | undefined, other: Watched): Watched {
  return one !== undefined && created(one) >= created(other) ? one : other;
}

function created({ operation }: Watched): number {
  return (operation && timeOf(operation, 'created_at')) ?? Number.NEGATIVE_INFINITY;
}

export function idsOf({ watched }: Waited): string[] {
  return watched.map(({ id }) => id);
}

/** The records as they were seen last. */
export function recordsOf({ watched }: Waited): JsonObject[] {
  return watched.flatMap(({ operation }) => (operation === undefined ? [] : [operation.record]));
}
