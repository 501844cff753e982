import { isPending } from '../../api/operation-status.js';
import type { Page } from '../../api/paging.js';
import type { Operation } from '../../api/records.js';
import { RequestError, UserError } from '../../http/errors.js';
import type { Send } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { Cancellation, CancelledError, type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import { ListRead, mayHideMore } from './judge.js';
import type { ProgressLog } from './progress-log.js';
import type { AllOperations, WaitSettings } from './settings.js';
import { recentAge, TrackedOperations } from './tracked-operations.js';
import { firstPatience, Troubles } from './troubles.js';

/** The first read goes back so many milliseconds by `created_at`, or farther to `since`, but stops at so many operations. */
const firstReadAge = 86_400_000;
export const maxFirstRead = 1_000;
/** If more operations of a project are pending, a poll reads its list. */
const maxWithoutList = 2;
/** A poll reads further pages while more pending operations than this have not appeared. */
const maxUnshown = 20;
const maxExtraPages = 10;
/** In milliseconds. A poll does not wait longer for requests about single operations. A later answer still counts. */
const singlesHangAfter = 2_000;

/** The last poll begins at `deadline`. No response counts after `lastDeadline`. */
type Context = WaitSettings & Collaborators & { readonly progress: ProgressLog; readonly lastDeadline: Deadline };

/** One project of a wait: what it still waits for, and the requests for that. */
export class Project {
  readonly operations: TrackedOperations;
  readonly troubles: Troubles;
  /** Cancelled when the project is done. */
  readonly end = new Cancellation();
  /** What no later request can help: by the id of an operation, or of the project for all of it. */
  readonly failures = new Map<string, Error>();
  /** True if the first read did not go back 24 hours. */
  isCut = false;
  readonly #all: AllOperations | undefined;
  /** The requests under way: by the id of the project for its list, or of an operation. */
  readonly #open = new Map<string, Promise<void>>();

  constructor(
    readonly id: string,
    private readonly context: Context,
  ) {
    const { target, api, deadline, rate } = context;
    const { clock } = deadline;
    this.#all = 'all' in target ? target : undefined;
    this.operations = new TrackedOperations(id, context, () => api.serviceEpochMs(clock) - clock.now());
    this.troubles = new Troubles(clock, rate);
    deadline.cancellation.onCancel(() => this.end.cancel());
  }

  get isDone(): boolean {
    return this.failures.has(this.id) || (this.operations.wanted.size === 0 && this.#hasReadAll);
  }

  /** True if all that counts is known to have ended. */
  get isSettled(): boolean {
    return this.failures.size === 0 && this.#hasReadAll && ![...this.operations.all.values()].some(isPending);
  }

  async poll(): Promise<void> {
    const { wanted } = this.operations;
    const needsList = this.#all !== undefined || wanted.size > maxWithoutList;
    const reading = needsList ? this.#start(this.id, () => this.#readList()) : undefined;
    if (reading === undefined || (this.#isLastPoll && this.#all === undefined)) this.#askEach([...wanted]);
    await reading;
    const requests = Promise.all(this.#open.values());
    if (this.#isLastPoll) await requests;
    else await this.context.deadline.raceFor(singlesHangAfter, () => requests);
  }

  get #hasReadAll(): boolean {
    const { quiet, firstRead } = this.operations;
    return this.#all === undefined || (this.context.pollsOnce ? firstRead !== undefined : quiet.isProved);
  }

  get #isLastPoll(): boolean {
    return this.context.deadline.isExpired;
  }

  /** Sends no second request for the same id, and none before a `Retry-After` ends. The last poll ignores both rules. */
  #start(id: string, request: () => Promise<void>): Promise<void> | undefined {
    const isDue = this.troubles.of(id).notBefore <= this.context.deadline.clock.now();
    if (!this.#isLastPoll && (this.#open.has(id) || !isDue)) return undefined;
    const open = request()
      .catch((error) => (error instanceof RequestError ? this.#noteFailure(id, error) : ignoreEnd(error)))
      .finally(() => {
        if (this.#open.get(id) === open) this.#open.delete(id);
      });
    this.#open.set(id, open);
    return open;
  }

  /** Reads the list as far as it is needed, and then asks singly for what it did not show. */
  async #readList(): Promise<void> {
    const { api, deadline } = this.context;
    // The last poll has already asked for the given ids singly.
    const unshown = new Set(this.#isLastPoll && this.#all === undefined ? [] : this.operations.wanted);
    const read = new ListRead(deadline.clock.now());
    let isFarEnough = false;
    let extraPages = 0;
    for await (const page of api.operations(this.id, this.#once(this.id))) {
      this.troubles.answered(this.id, false);
      for (const operation of page.records) {
        unshown.delete(operation.id);
        read.add(operation);
        this.#take(operation);
      }
      isFarEnough ||= this.#isFarEnough(page, read);
      if (isFarEnough && (unshown.size <= maxUnshown || extraPages++ >= maxExtraPages)) break;
    }
    this.troubles.answered(this.id, true);
    this.operations.endRead(read, deadline.clock.now());
    this.#endIfPossible();
    this.#askEach([...unshown]);
  }

  #isFarEnough({ records, cursor }: Page<Operation>, read: ListRead): boolean {
    if (this.#all === undefined) return true;
    const { since } = this.#all;
    const { firstRead } = this.operations;
    const start = this.operations.start();
    if (firstRead !== undefined) return !mayHideMore(records, firstRead, start - recentAge);
    if (read.goesBackTo(start - Math.max(firstReadAge, since))) return true;
    this.isCut = read.ids.size >= maxFirstRead && cursor !== undefined;
    if (this.isCut && !read.goesBackTo(start - since)) {
      const what = `Project ${sanitizeId(this.id)} has more than ${maxFirstRead} operations of the last ${formatDuration(since)} (since)`;
      const advice =
        'The step may have missed a failed one. Give the input since a shorter time, or list the ids in operation-id.';
      this.#fail(this.id, new UserError(`${what}. ${advice}`));
    }
    return this.isCut;
  }

  #askEach(ids: readonly string[]): void {
    for (const id of ids) if (this.operations.wanted.has(id)) void this.#start(id, () => this.#ask(id));
  }

  async #ask(id: string): Promise<void> {
    const { wanted } = this.operations;
    // The next poll begins with those that have waited longest.
    wanted.delete(id);
    wanted.add(id);
    this.#take(await this.context.api.operation(this.id, id, this.#once(id)));
  }

  /** One attempt: the next poll repeats a request that fails. */
  #once(id: string): Send {
    const { deadline, lastDeadline } = this.context;
    const sendBy = this.#isLastPoll ? lastDeadline : deadline;
    // Single requests soon replace a list of given ids.
    const isOfIds = id === this.id && this.#all === undefined;
    const patience = isOfIds ? firstPatience : this.troubles.of(id).patience;
    return (attempt) => attempt({ deadline: lastDeadline, sendBy, patience });
  }

  #take(operation: Operation): void {
    this.troubles.answered(operation.id, true);
    if (this.operations.take(operation)) this.context.progress.statusChanged(operation);
    this.#endIfPossible();
  }

  #noteFailure(id: string, error: RequestError): void {
    const { wanted } = this.operations;
    this.context.progress.requestFailed(error);
    const isFinal = this.troubles.note(id, error) === 'final';
    if (id === this.id) {
      // Given ids can be asked for singly. So a failure of their list counts only if the project never answered.
      if (isFinal && (this.#all !== undefined || this.troubles.answeredAt === undefined)) this.#fail(id, error);
      // In a wait for `all`, the next read of the list must not stand behind hundreds of requests.
      else this.#askEach([...wanted].slice(0, this.#all === undefined ? wanted.size : maxUnshown));
    } else if (isFinal) {
      wanted.delete(id);
      // A rejection is about this operation. Any other final failure is about the whole project.
      this.#fail(error.isPermanent ? id : this.id, error);
    }
  }

  #fail(id: string, error: Error): void {
    this.failures.set(id, error);
    this.#endIfPossible();
  }

  #endIfPossible(): void {
    const { failFast, deadline } = this.context;
    if (failFast && (this.operations.hasFailed || this.failures.size > 0)) deadline.cancellation.cancel();
    else if (this.isDone) this.end.cancel();
  }
}

/** Rethrows all but the end of a wait. Only `conclude` says how that came. */
export function ignoreEnd(error: unknown): void {
  if (!(error instanceof DeadlineExceeded || error instanceof CancelledError)) throw error;
}
