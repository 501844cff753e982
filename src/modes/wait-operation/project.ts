import type { ControlApi } from '../../api/control-api.js';
import type { Page } from '../../api/paging.js';
import type { Operation } from '../../api/records.js';
import { RequestError, UserError } from '../../http/errors.js';
import type { Rate } from '../../http/rate.js';
import type { Send } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { Cancellation, CancelledError, type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
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
/** A poll does not wait longer for single requests. Their answers still count when they come. In milliseconds. */
const singlesHangAfter = 2_000;

/** All projects of one wait share these values. No request of a usual poll is sent after `deadline`. */
export interface WaitContext extends Pick<WaitSettings, 'target' | 'pollsOnce'> {
  readonly api: ControlApi;
  readonly rate: Rate;
  readonly progress: ProgressLog;
  readonly deadline: Deadline;
  /** No response counts after this. */
  readonly lastDeadline: Deadline;
  readonly onFailure: () => void;
}

/** One project of a wait: what it still waits for, and the requests for that. */
export class Project {
  readonly operations: TrackedOperations;
  readonly troubles: Troubles;
  /** Cancelled when the project is done. */
  readonly end = new Cancellation();
  /** The first failure that no later request can help, and the operation that it is about. */
  failure: { readonly error: Error; readonly operationId: string | undefined } | undefined;
  /** True if the first read did not go back 24 hours. */
  isCut = false;
  readonly #all: AllOperations | undefined;
  /** False once no later request can help. */
  #isReachable = true;
  #isLastPoll = false;
  /** The requests under way: by the id of the project for its list, or of an operation. */
  readonly #open = new Map<string, Promise<void>>();

  constructor(
    readonly id: string,
    private readonly context: WaitContext,
  ) {
    const { target, deadline, rate } = context;
    this.#all = 'all' in target ? target : undefined;
    this.operations = new TrackedOperations(id, target, () => this.#stepStart);
    this.troubles = new Troubles(deadline.clock, rate);
  }

  /** True if no further poll is needed. With `timeout: 0`, one answer to each request is enough. */
  get isDone(): boolean {
    if (!this.#isReachable) return true;
    if (!this.context.pollsOnce) return this.#hasEnded;
    return this.#all === undefined ? this.#wanted.length === 0 : this.operations.firstRead !== undefined;
  }

  /** True if all that counts is known to have ended. */
  get isSettled(): boolean {
    return this.failure === undefined && this.#hasEnded;
  }

  /** Asks for all that the project still waits for. */
  async poll(isLast: boolean): Promise<void> {
    this.#isLastPoll = isLast;
    const ids = this.#wanted;
    const needsList = this.#all !== undefined || ids.length > maxWithoutList;
    const reading = needsList ? this.#start(this.id, () => this.#readList()) : undefined;
    if (reading === undefined || (isLast && this.#all === undefined)) this.#askEach(ids);
    await reading;
    const requests = Promise.all(this.#open.values());
    if (isLast) await requests;
    else await this.context.deadline.raceFor(singlesHangAfter, () => requests);
  }

  /** With `timeout: 0`, after the time for repetitions. */
  endOnlyPoll(): void {
    const { latest } = this.troubles;
    if (latest !== undefined) this.#fail(latest);
  }

  get #hasEnded(): boolean {
    const { pending, quiet, firstRead } = this.operations;
    if (pending.size > 0 || this.#all === undefined) return pending.size === 0;
    return this.context.pollsOnce ? firstRead !== undefined : quiet.isProved;
  }

  get #wanted(): string[] {
    const ids = [...this.operations.pending];
    return this.context.pollsOnce ? ids.filter((id) => this.operations.get(id) === undefined) : ids;
  }

  get #stepStart(): number {
    const { clock } = this.context.deadline;
    return this.context.api.serviceEpochMs(clock) - clock.now();
  }

  /** Only the last poll asks for what is under way already, or before a `Retry-After` has ended. */
  #start(id: string, request: () => Promise<void>): Promise<void> | undefined {
    if (!this.#isLastPoll && (this.#open.has(id) || !this.troubles.isDue(id))) return undefined;
    const open = request()
      .catch((error: unknown) => this.#noteFailure(id, error))
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
    const unshown = new Set(this.#isLastPoll && this.#all === undefined ? [] : this.#wanted);
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
    this.#endIfDone();
    this.#askEach([...unshown]);
  }

  #isFarEnough({ records, cursor }: Page<Operation>, read: ListRead): boolean {
    if (this.#all === undefined) return true;
    const { since } = this.#all;
    const { firstRead } = this.operations;
    if (firstRead !== undefined) return !mayHideMore(records, firstRead, this.#stepStart - recentAge);
    if (read.goesBackTo(this.#stepStart - Math.max(firstReadAge, since))) return true;
    this.isCut = read.ids.size >= maxFirstRead && cursor !== undefined;
    if (this.isCut && !read.goesBackTo(this.#stepStart - since)) this.#giveUp(tooMany(this.id, since));
    return this.isCut;
  }

  #askEach(ids: readonly string[]): void {
    for (const id of ids) if (this.operations.pending.has(id)) void this.#start(id, () => this.#ask(id));
  }

  async #ask(id: string): Promise<void> {
    const { pending } = this.operations;
    // The next poll begins with those that have waited longest.
    pending.delete(id);
    pending.add(id);
    this.#take(await this.context.api.operation(this.id, id, this.#once(id)));
  }

  /** One attempt: the next poll repeats a request that fails. */
  #once(id: string): Send {
    const { deadline, lastDeadline } = this.context;
    const sendBy = this.#isLastPoll ? lastDeadline : deadline;
    // Single requests soon replace a list of given ids.
    const patience = id === this.id && this.#all === undefined ? { patience: firstPatience } : {};
    return (attempt) => attempt({ deadline: lastDeadline, sendBy, ...this.troubles.nextAttempt(id), ...patience });
  }

  #take(operation: Operation): void {
    this.troubles.answered(operation.id, true);
    if (this.operations.take(operation)) this.context.progress.statusChanged(operation);
    if (this.operations.hasFailed) this.context.onFailure();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.isDone) this.end.cancel();
  }

  #noteFailure(id: string, error: unknown): void {
    // The loop of the project handles both.
    if (error instanceof DeadlineExceeded || error instanceof CancelledError) return;
    if (!(error instanceof RequestError)) throw error;
    this.context.progress.requestFailed(error);
    const isFinal = this.troubles.note(id, error) === 'final';
    if (id === this.id) {
      // In a wait for given ids, single requests replace the list. So its failures count only if nothing ever came.
      if (isFinal && (this.#all !== undefined || this.troubles.answeredAt === undefined)) this.#giveUp(error);
      // In a wait for `all`, the next read of the list must not stand behind hundreds of requests.
      else this.#askEach(this.#all === undefined ? this.#wanted : this.#wanted.slice(0, maxUnshown));
    } else if (isFinal) {
      this.operations.pending.delete(id);
      // A rejection is about this operation. Any other final failure is about the whole project.
      if (error.isPermanent) this.#fail(error, id);
      else this.#giveUp(error, id);
    }
  }

  #giveUp(error: Error, operationId?: string): void {
    this.#isReachable = false;
    this.#fail(error, operationId);
  }

  #fail(error: Error, operationId?: string): void {
    this.failure ??= { error, operationId };
    this.context.onFailure();
    this.#endIfDone();
  }
}

function tooMany(projectId: string, since: number): UserError {
  const what = `more than ${maxFirstRead} operations of the last ${formatDuration(since)} (since)`;
  const advice = 'A failed one may not have been read. Set a shorter since, or wait for ids.';
  return new UserError(`Project ${sanitizeId(projectId)} has ${what}. ${advice}`);
}
