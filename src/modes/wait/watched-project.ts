import type { ControlApi } from '../../api/control-api.js';
import { type Operation, timeOf } from '../../api/records.js';
import { ApiError } from '../../http/errors.js';
import type { Manner, RetryRule } from '../../http/retry.js';
import { Cancelled, type Limit, TimeUp } from '../../time/limit.js';
import type { Narrator } from './narrator.js';
import type { Polled, PollFailure, PollFailures } from './poll-failures.js';
import { Roster } from './roster.js';
import type { Target } from './target.js';

/** A promise of the contract: the first poll for `all` reads this many of the newest operations. */
const newestAtFirst = 1_000;
/** A promise of the contract: every other list is read up to this many of the newest operations. */
const newestLater = 200;
/** A promise of the contract: a list replaces single requests if more ids than this are pending. */
const fewEnoughToAskSingly = 2;
/**
 * Milliseconds, a promise of the contract. A new operation may not be listed yet, so an empty list counts only if a
 * poll this much later shows none either.
 */
const graceForUnlisted = 5_000;
/**
 * Milliseconds. A slower list counts as hanging, and its operations are requested singly. 200 records take far less
 * time.
 */
const slowList = 1_000;

export interface PollPolicy extends Manner {
  /** True for the final poll, and for the only poll of `timeout: 0`. */
  readonly isLast: boolean;
}

/** Connects each project to its wait. */
export interface Watcher {
  readonly api: ControlApi;
  /** The deadline of the whole wait. */
  readonly limit: Limit;
  /** Start of the wait, on the step's clock. */
  readonly began: number;
  readonly narrator: Narrator;
  readonly failures: PollFailures;
  /** Called after each response and each failure. */
  readonly onChange: () => void;
  /** Called for a failure that ends the wait. */
  readonly onFailure: (failure: PollFailure) => void;
}

/** One project of a wait: its operations, and the requests that are due. */
export class WatchedProject {
  readonly id: string;
  readonly roster: Roster;
  readonly #target: Target;
  readonly #watcher: Watcher;
  /** Ids of operations that are being requested singly. */
  readonly #asking = new Set<string>();
  #listingSince: number | undefined;
  /** True if the latest read of the list reached its end. */
  #isListRead = false;
  /** True once the list has been read again after `graceForUnlisted`, or by the only poll of `timeout: 0`. */
  #isEmptyBelieved = false;
  #firstReadAt: number | undefined;
  #countedFrom: number | undefined;

  constructor(id: string, target: Target, watcher: Watcher) {
    this.id = id;
    this.roster = new Roster(target, id);
    this.#target = target;
    this.#watcher = watcher;
  }

  /** True if nothing is pending, for good. Nothing else makes a wait succeed. */
  get isSettled(): boolean {
    if (this.roster.pending.size > 0) return false;
    if ('ids' in this.#target) return true;
    return this.#isListRead && (this.#isEmptyBelieved || !this.roster.isEmpty);
  }

  /** When a poll can confirm that the list is empty, on the step's clock; 0 if there is nothing to confirm. */
  get believedAt(): number {
    if (this.#firstReadAt === undefined || this.#isEmptyBelieved || !this.roster.isEmpty) return 0;
    return this.#firstReadAt + graceForUnlisted;
  }

  /** True if a request is due that is not open already. */
  get hasWork(): boolean {
    return this.#listIsDue || this.#dueIds.length > 0;
  }

  /**
   * Starts all requests that are due. Each promise resolves once the response or the failure is processed, and never
   * rejects.
   */
  poll(policy: PollPolicy): Promise<void>[] {
    if (this.#listIsDue) return [this.#pollList(policy)];
    return this.#dueIds.map((id) => this.#ask(id, policy));
  }

  get #usesList(): boolean {
    return 'all' in this.#target || this.roster.pending.size > fewEnoughToAskSingly;
  }

  get #listIsDue(): boolean {
    return this.#usesList && this.#listingSince === undefined && this.#watcher.failures.isDue(this.id);
  }

  get #dueIds(): string[] {
    const { limit } = this.#watcher;
    if (this.#usesList && limit.clock.now() - (this.#listingSince ?? Number.POSITIVE_INFINITY) < slowList) return [];
    return this.#askable(this.roster.pending);
  }

  #askable(ids: Iterable<string>): string[] {
    return [...ids].filter((id) => !this.#asking.has(id) && this.#watcher.failures.isDue(id));
  }

  async #pollList(policy: PollPolicy): Promise<void> {
    const unseen = await this.#readList(policy);
    await Promise.all(unseen.map((id) => this.#ask(id, policy)));
  }

  /** Returns the ids of pending operations that must be requested singly. */
  async #readList(policy: PollPolicy): Promise<string[]> {
    const { limit, narrator, failures, onChange } = this.#watcher;
    const { roster } = this;
    const givenIds = 'ids' in this.#target;
    const began = limit.clock.now();
    const unseen = new Set(roster.pending);
    const wasSeen = failures.isAnswered(this.id);
    this.#listingSince = began;
    this.#isListRead = false;
    roster.startListing();
    try {
      await this.#readPages(unseen, givenIds ? { ...policy, retry: withoutUnusable(policy.retry) } : policy);
      this.#isListRead = true;
      this.#firstReadAt ??= limit.clock.now();
      // Sums of fractional milliseconds can be slightly too small, hence the `+ 1`.
      this.#isEmptyBelieved ||= limit.endless || began + 1 > this.#firstReadAt + graceForUnlisted;
      if (roster.isEmpty && !this.#isEmptyBelieved) narrator.nothingYet();
    } catch (error) {
      // Single requests replace a list that is unusable. They do not help if the service itself fails.
      if (!givenIds || !isUnusable(error)) {
        this.#fail({ projectId: this.id, wasSeen }, error, policy);
        return [];
      }
    } finally {
      this.#listingSince = undefined;
      onChange();
    }
    return this.#askable(unseen);
  }

  async #readPages(unseen: Set<string>, policy: PollPolicy): Promise<void> {
    const { api, limit, failures } = this.#watcher;
    const { roster } = this;
    const target = this.#target;
    const most = 'all' in target && roster.isFirstPoll ? newestAtFirst : newestLater;
    let read = 0;
    // The first poll reads back to `since`, however many operations there are.
    const isBounded = !roster.isFirstPoll || 'ids' in target || target.since === undefined;
    for await (const page of api.operations(this.id, isBounded ? most : Number.POSITIVE_INFINITY, policy)) {
      failures.recordSuccess(this.id, this.id);
      read += page.length;
      if ('all' in target) {
        this.#countFrom(target.since);
        roster.startPage(page);
      }
      for (const operation of page) {
        const isOurs = 'ids' in target ? unseen.has(operation.id) : roster.takesUp(operation, api.epochMs(limit.clock));
        if (unseen.delete(operation.id) || isOurs) this.#see(operation);
      }
      if (('ids' in target && unseen.size === 0) || (read >= most && this.#isBeforeSince(page))) break;
    }
    failures.recordSuccess(this.id, this.id);
    roster.finishListing(read < most);
  }

  /** `since` is measured on the service's clock, which is known after the first response. */
  #countFrom(since: number | undefined): void {
    const { api, limit, began } = this.#watcher;
    if (since === undefined || this.#countedFrom !== undefined) return;
    this.#countedFrom = api.epochMs(limit.clock) - (limit.clock.now() - began) - since;
    this.roster.countFrom(this.#countedFrom);
  }

  /** The list is sorted by creation, newest first. */
  #isBeforeSince(page: readonly Operation[]): boolean {
    const oldest = page.at(-1);
    return (
      oldest === undefined || (timeOf(oldest, 'created_at') ?? 0) < (this.#countedFrom ?? Number.POSITIVE_INFINITY)
    );
  }

  async #ask(id: string, policy: PollPolicy): Promise<void> {
    const { api, onChange } = this.#watcher;
    this.#asking.add(id);
    try {
      this.#see(await api.operation(this.id, id, policy));
    } catch (error) {
      const wasSeen = this.roster.get(id) !== undefined;
      this.#fail({ projectId: this.id, operationId: id, wasSeen }, error, policy);
    } finally {
      this.#asking.delete(id);
      onChange();
    }
  }

  #see(operation: Operation): void {
    const { narrator, failures, onChange } = this.#watcher;
    const from = this.roster.get(operation.id)?.status;
    if (this.roster.see(operation)) narrator.change(operation, from);
    failures.recordSuccess(this.id, operation.id);
    onChange();
  }

  #fail(polled: Polled, error: unknown, { isLast }: PollPolicy): void {
    const { failures, onFailure } = this.#watcher;
    // The polling loop has the same deadline and the same cancellation, and handles both.
    if (error instanceof TimeUp || error instanceof Cancelled) return;
    const failure =
      error instanceof ApiError
        ? failures.handleFailure(polled, error, isLast)
        : { error: error as Error, atOnce: true };
    if (failure !== undefined) onFailure(failure);
  }
}

/** A complete response without usable content. */
function isUnusable(error: unknown): boolean {
  return error instanceof ApiError && error.status !== undefined && error.status < 300;
}

function withoutUnusable(retry: RetryRule): RetryRule {
  return (error, times) => (isUnusable(error) ? undefined : retry(error, times));
}
