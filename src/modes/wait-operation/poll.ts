import type { RequestPolicy } from '../../http/retry.js';

/**
 * - `regular`: reads what is pending, and the lists that are due
 * - `early`: reads only the lists that are due before the next regular poll
 * - `final`: reads everything once, at the deadline
 * - `only`: reads everything once, with `timeout: 0`
 */
export type PollKind = 'regular' | 'early' | 'final' | 'only';

export interface PollPolicy extends Omit<RequestPolicy, 'retry' | 'onRetry'> {
  readonly kind: PollKind;
}

/** The target of a request: one operation or, without `operationId`, the list of operations of a project. */
export interface PollTarget {
  readonly projectId: string;
  readonly operationId?: string;
  /** True if an earlier request found this operation or project. */
  readonly wasSeen: boolean;
}
