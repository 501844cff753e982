import type { ControlApi } from '../../api/control-api.js';
import type { Operation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import type { RequestPolicy, RetryRule } from '../../http/retry.js';
import { CancelledError, type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { ListReader } from './list-reader.js';
import type { PollFailure, PollFailures, PollTarget } from './poll-failures.js';
import type { ProgressLog } from './progress-log.js';
import { type Target, TrackedOperations } from './tracked-operations.js';

/** With more pending operations than this, one list request replaces the individual requests. The contract promises this. */
const maxPolledSingly = 2;

export interface PollPolicy extends RequestPolicy {
  /** True for the final poll at the deadline, and for the only poll with `timeout: 0`. */
  readonly isLast: boolean;
}

/** All projects of one wait share these values and callbacks. */
export interface PollContext {
  readonly api: ControlApi;
  readonly deadline: Deadline;
  /** The start of the wait on the step's clock. */
  readonly began: number;
  readonly progress: ProgressLog;
  readonly failures: PollFailures;
  /** Runs after each response and each failure. */
  readonly onChange: () => void;
  /** Receives each failure that ends the wait. */
  readonly onFailure: (failure: PollFailure) => void;
}

export class ProjectPoller {
  readonly tracked: TrackedOperations;
  readonly list: ListReader;
  /** Ids of operations that are being requested individually. */
  readonly #polledIds = new Set<string>();

  constructor(
    readonly id: string,
    private readonly target: Target,
    private readonly context: PollContext,
  ) {
    this.tracked = new TrackedOperations(target, id);
    this.list = new ListReader(id, target, this.tracked, context);
  }

  /** True if no operation is pending, and no later response can change this. */
  get isSettled(): boolean {
    return this.tracked.pending.size === 0 && ('ids' in this.target || this.list.isConclusive);
  }

  get hasWork(): boolean {
    return this.#listIsDue || this.#dueIds.length > 0;
  }

  /** Starts all requests that are due. The promises never reject, because failures go to `onFailure`. */
  poll(policy: PollPolicy): Promise<void>[] {
    if (this.#listIsDue) return [this.#pollList(policy)];
    return this.#dueIds.map((id) => this.#pollOperation(id, policy));
  }

  get #usesList(): boolean {
    return 'all' in this.target || this.tracked.pending.size > maxPolledSingly;
  }

  get #listIsDue(): boolean {
    return this.#usesList && !this.list.isReading && this.context.failures.isDue(this.id);
  }

  get #dueIds(): string[] {
    return this.#usesList && !this.list.isHanging ? [] : this.#notBeingPolled(this.tracked.pending);
  }

  #notBeingPolled(ids: Iterable<string>): string[] {
    return [...ids].filter((id) => !this.#polledIds.has(id) && this.context.failures.isDue(id));
  }

  async #pollList(policy: PollPolicy): Promise<void> {
    const { failures, onChange } = this.context;
    const givenIds = 'ids' in this.target;
    const unseen = new Set(this.tracked.pending);
    const wasSeen = failures.hasResponded(this.id);
    const retry: RetryRule = (error, count) => (isUnusable(error) ? undefined : policy.retry(error, count));
    const listPolicy = givenIds ? { ...policy, retry } : policy;
    try {
      await this.list.read(unseen, listPolicy, (operation) => this.#update(operation));
    } catch (error) {
      // Individual requests replace an unusable list. After other failures, individual requests would fail too.
      if (!givenIds || !isUnusable(error)) {
        unseen.clear();
        this.#handleFailure({ projectId: this.id, wasSeen }, error, policy);
      }
    } finally {
      onChange();
    }
    await Promise.all(this.#notBeingPolled(unseen).map((id) => this.#pollOperation(id, policy)));
  }

  async #pollOperation(id: string, policy: PollPolicy): Promise<void> {
    const { api, onChange } = this.context;
    this.#polledIds.add(id);
    try {
      this.#update(await api.operation(this.id, id, policy));
    } catch (error) {
      const wasSeen = this.tracked.get(id) !== undefined;
      this.#handleFailure({ projectId: this.id, operationId: id, wasSeen }, error, policy);
    } finally {
      this.#polledIds.delete(id);
      onChange();
    }
  }

  #update(operation: Operation): void {
    const { progress, failures, onChange } = this.context;
    const from = this.tracked.get(operation.id)?.status;
    if (this.tracked.update(operation)) progress.statusChanged(operation, from);
    failures.recordSuccess(this.id, operation.id);
    onChange();
  }

  #handleFailure(target: PollTarget, error: unknown, { isLast }: PollPolicy): void {
    const { failures, onFailure } = this.context;
    // The waiter itself handles a deadline and a cancellation.
    if (error instanceof DeadlineExceeded || error instanceof CancelledError) return;
    const failure =
      error instanceof RequestError
        ? failures.handleFailure(target, error, isLast)
        : { error: error as Error, endsAtOnce: true };
    if (failure !== undefined) onFailure(failure);
  }
}

/** True if the list arrived, but has unusable content. */
function isUnusable(error: unknown): boolean {
  return error instanceof RequestError && error.status !== undefined && error.status < 300;
}
