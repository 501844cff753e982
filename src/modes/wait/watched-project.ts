import type { ControlApi } from '../../api/control-api.js';
import { type Operation, timeOf } from '../../api/records.js';
import { ApiError } from '../../http/errors.js';
import type { Manner, RetryRule } from '../../http/retry.js';
import { Cancelled, type Limit, TimeUp } from '../../time/limit.js';
import type { Narrator } from './narrator.js';
import type { Polled, PollFailure, PollFailures } from './poll-failures.js';
import { Roster } from './roster.js';
import type { Target } from './target.js';

/** How much of the list a poll reads, and how many pending operations are asked for singly. Promises of the contract. */
const newestAtFirst = 1_000;
const newestLater = 200;
const fewEnoughToAskSingly = 2;
/** A new operation may not be listed yet: an empty list is believed when a poll this much later shows nothing either. */
const graceForUnlisted = 5_000;
/** A list that takes longer hangs, and what it should show is asked for singly. Far more than 200 records take. */
const slowList = 1_000;

/** How a poll makes its requests. */
export interface PollPolicy extends Manner {
  readonly isLast: boolean;
}

/** What watches several projects, and hears of each change. */
export interface Watcher {
  readonly api: ControlApi;
  /** Of the whole wait. */
  readonly limit: Limit;
  /** When the wait began, on the clock of the step. */
  readonly began: number;
  readonly narrator: Narrator;
  readonly failures: PollFailures;
  /** Something is known that was not known before. */
  readonly onChange: () => void;
  /** A request failed in a way that ends the wait. */
  readonly onFailure: (failure: PollFailure) => void;
}

/** One project of a wait: what to ask for next, and what is known. */
export class WatchedProject {
  readonly id: string;
  readonly roster: Roster;
  readonly #target: Target;
  readonly #watcher: Watcher;
  /** Ids that are being asked for singly. */
  readonly #asking = new Set<string>();
  #listingSince: number | undefined;
  /** Whether the latest poll of the list came to its end, and whether an empty one is believed. */
  #isListRead = false;
  #isEmptyBelieved = false;
  #firstReadAt: number | undefined;
  #countedFrom: number | undefined;

  constructor(id: string, target: Target, watcher: Watcher) {
    this.id = id;
    this.roster = new Roster(target, id);
    this.#target = target;
    this.#watcher = watcher;
  }

  /** Whether nothing is pending, for good. A wait succeeds by this alone. */
  get isSettled(): boolean {
    if (this.roster.pending.size > 0) return false;
    if ('ids' in this.#target) return true;
    return this.#isListRead && (this.#isEmptyBelieved || !this.roster.isEmpty);
  }

  /** When an empty list can be believed, on the clock of the step; 0: there is none. */
  get believedAt(): number {
    if (this.#firstReadAt === undefined || this.#isEmptyBelieved || !this.roster.isEmpty) return 0;
    return this.#firstReadAt + graceForUnlisted;
  }

  /** Whether there is anything to ask for that is not being asked for already. */
  get hasWork(): boolean {
    return this.#listIsDue || this.#dueIds.length > 0;
  }

  /** Starts requests for all that is due. Each ends when its response, or its failure, was taken in, and never throws. */
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

  /** Answers with the pending operations that have to be asked for singly. */
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
      // The sum of fractions of milliseconds can be a little less than its parts.
      this.#isEmptyBelieved ||= limit.endless || began + 1 > this.#firstReadAt + graceForUnlisted;
      if (roster.isEmpty && !this.#isEmptyBelieved) narrator.nothingYet();
    } catch (error) {
      // More requests do not help a service that fails; but a list that cannot be read need not be.
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

  /** On the service's clock, which the first response has shown. */
  #countFrom(since: number | undefined): void {
    const { api, limit, began } = this.#watcher;
    if (since === undefined || this.#countedFrom !== undefined) return;
    this.#countedFrom = api.epochMs(limit.clock) - (limit.clock.now() - began) - since;
    this.roster.countFrom(this.#countedFrom);
  }

  /** The list is in order of creation. */
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
    // The loop that polls hears of these itself.
    if (error instanceof TimeUp || error instanceof Cancelled) return;
    const failure =
      error instanceof ApiError
        ? failures.handleFailure(polled, error, isLast)
        : { error: error as Error, atOnce: true };
    if (failure !== undefined) onFailure(failure);
  }
}

/** A whole response of which nothing can be used. */
function isUnusable(error: unknown): boolean {
  return error instanceof ApiError && error.status !== undefined && error.status < 300;
}

function withoutUnusable(retry: RetryRule): RetryRule {
  return (error, times) => (isUnusable(error) ? undefined : retry(error, times));
}
