import pLimit from 'p-limit';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { maxAgeOfIdleness, maxConcurrentRequests, maxFirstRead } from './limits.js';
import { Pace } from './pace.js';
import type { PollFailure, PollKind } from './poll.js';
import { PollFailures } from './poll-failures.js';
import { ProgressLog } from './progress-log.js';
import { ProjectPoller } from './project-poller.js';
import type { WaitSettings } from './target.js';
import { isPending } from './tracked-operations.js';
import { createWaitResult, settledVerdict, type Verdict, type WaitResult } from './wait-result.js';

/** By contract, a step may end up to 2 s after its deadline. The final poll gets half of this time. In milliseconds. */
const finalPollTimeout = 1_000;
/** The final poll of many projects begins this much earlier for each further group of parallel requests. In milliseconds. */
const leadPerGroup = 300;
/** After this many milliseconds without a response, the next poll starts even if requests are still open. */
const hangsAfter = 500;

/** Polls until all operations have ended or the deadline expires. With `failFast` the first failure ends the wait. */
export async function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  const waiter = new Waiter(settings, collaborators);
  const removeListener = collaborators.deadline.cancellation.onCancel(() => waiter.stop());
  try {
    return waiter.result(await waiter.end());
  } catch (error) {
    if (error instanceof CancelledError) return waiter.result('cancelled');
    throw error;
  } finally {
    removeListener();
    waiter.stop();
  }
}

class Waiter {
  /** The deadline of all polls but the final one. */
  readonly #deadline: Deadline;
  readonly #progress: ProgressLog;
  readonly #pace: Pace;
  readonly #failures: PollFailures;
  readonly #projects: readonly ProjectPoller[];
  readonly #began: number;
  readonly #queue = pLimit(maxConcurrentRequests);
  /** Cancels the requests that are still open when the wait ends. */
  readonly #requestCancellation = new Cancellation();
  #openRequests: Promise<unknown> = Promise.resolve();
  /** Set as soon as a response decides the result. */
  #decision: Verdict | Error | undefined;
  readonly #decided: Promise<'decided'>;
  #resolveDecided = (): void => undefined;
  /** This failure ends the wait after the current poll. Another response of that poll may still show a failed operation. */
  #failure: Error | undefined;
  /** The number of responses and failures. */
  #changes = 0;
  #regularPollAt = 0;
  /** True once all projects were idle, and the lists of those that were idle for long were read again. */
  #hasReadAgain = false;

  constructor(
    private readonly settings: WaitSettings,
    private readonly collaborators: Collaborators,
  ) {
    const { api, deadline, log, random } = collaborators;
    const { projectIds, target, pollInterval } = settings;
    const groups = Math.ceil(projectIds.length / maxConcurrentRequests);
    const lead = Math.min((groups - 1) * leadPerGroup, deadline.expiresAt / 2);
    this.#deadline = new Deadline(deadline.clock, deadline.expiresAt - lead, this.#requestCancellation);
    this.#began = deadline.clock.now();
    this.#progress = new ProgressLog(log, deadline, projectIds, () =>
      this.#projects.flatMap(({ tracked }) => tracked.all.filter(isPending)),
    );
    this.#pace = new Pace(this.#deadline, random, pollInterval);
    this.#failures = new PollFailures(this.#deadline, this.#progress, this.#pace, random);
    this.#decided = new Promise((resolve) => {
      this.#resolveDecided = () => resolve('decided');
    });
    const context = {
      api,
      deadline: this.#deadline,
      began: this.#began,
      maxFirstRead: maxFirstRead(projectIds.length),
      progress: this.#progress,
      failures: this.#failures,
      onChange: () => this.#check(),
    };
    this.#projects = projectIds.map(
      (id) => new ProjectPoller(id, target, context, (failure, project) => this.#handleFailure(failure, project)),
    );
  }

  async end(): Promise<Verdict | Error> {
    // With an empty list of ids, the result is known without a request.
    this.#check();
    if (this.#decision === undefined) this.#progress.start();
    if (this.#deadline.isUnbounded) return this.#pollOnce('only', this.#deadline);
    try {
      return await this.#pollRepeatedly();
    } catch (error) {
      if (error instanceof DeadlineExceeded) return this.#pollFinally();
      throw error;
    }
  }

  stop(): void {
    this.#requestCancellation.cancel();
    this.#progress.stop();
  }

  result(end: Verdict | Error): WaitResult {
    const isError = end instanceof Error;
    if (isError && !(end instanceof RequestError)) throw end;
    const verdict = !isError ? end : end instanceof RetryAfterExceedsDeadline ? 'timeout' : 'error';
    const givenUp = this.#projects.find(({ failure }) => failure !== undefined)?.failure;
    return createWaitResult(verdict, this.#projects, {
      unresponsiveProjects: this.settings.projectIds.filter((id) => !this.#failures.hasResponded(id)),
      cause: isError
        ? end
        : verdict === 'error'
          ? givenUp
          : verdict === 'timeout'
            ? this.#failures.lastFailure
            : undefined,
      elapsed: this.#deadline.clock.now() - this.#began,
    });
  }

  async #pollRepeatedly(): Promise<Verdict | Error> {
    for (;;) {
      await this.#poll(this.#isTimeForRegularPoll ? 'regular' : 'early');
      if (this.#failure === undefined) {
        this.#pace.recordPoll();
        if (this.#isTimeForRegularPoll)
          this.#regularPollAt = this.#now + Math.max(this.#pace.next(), this.#pace.heldFor);
        await this.#firstOf(this.#deadline.until(this.#nextPollAt));
      }
      // A request from an earlier poll can fail during the pause.
      const end = this.#decision ?? this.#failure;
      if (end !== undefined) return end;
    }
  }

  /** Ends when all requests have ended. Ends earlier if the open requests hang while another request is due. */
  async #poll(kind: PollKind): Promise<void> {
    const requests = this.#start(kind);
    for (;;) {
      const before = this.#changes;
      if ((await this.#firstOf(this.#deadline.within(hangsAfter), requests)) !== 'late') return;
      const isSilent = this.#changes === before && this.#pace.heldFor <= 0;
      if (isSilent && this.#projects.some(({ hasWork }) => hasWork)) return;
    }
  }

  /** Waits for the decision, for the work, or until the pause is over. */
  async #firstOf(pause: Deadline, ...work: Promise<unknown>[]): Promise<'decided' | 'done' | 'late'> {
    const done = work.map((one) => one.then(() => 'done' as const));
    try {
      return await pause.race(() => Promise.race([this.#decided, ...done]));
    } catch (error) {
      if (error instanceof DeadlineExceeded && !this.#deadline.isExpired) return 'late';
      throw error;
    }
  }

  /** A project that becomes idle is read once more, apart from the regular polls, unless the service throttles. */
  get #nextPollAt(): number {
    const dueAt = Math.min(...this.#projects.map((project) => project.dueAt));
    const earlyPollAt = this.#pace.isSlowed ? Math.max(dueAt, this.#regularPollAt) : dueAt;
    const hasOnlyEarly = dueAt < Number.POSITIVE_INFINITY && !this.#projects.some(({ isBusy }) => isBusy);
    return hasOnlyEarly ? earlyPollAt : Math.min(earlyPollAt, this.#regularPollAt);
  }

  /** Polls once more at the deadline, because an operation may have just finished. */
  async #pollFinally(): Promise<Verdict | Error> {
    // Open requests end no later than the deadline of the wait, so they do not delay the final poll.
    await this.#openRequests;
    this.#failures.clearRetryAfter();
    this.#expireOldReads();
    const { clock, expiresAt } = this.collaborators.deadline;
    try {
      return await this.#pollOnce(
        'final',
        new Deadline(clock, expiresAt + finalPollTimeout, this.#requestCancellation),
      );
    } catch (error) {
      if (error instanceof DeadlineExceeded) return this.#endNow;
      throw error;
    }
  }

  async #pollOnce(kind: 'final' | 'only', deadline: Deadline): Promise<Verdict | Error> {
    const requests = this.#start(kind, deadline);
    await deadline.race(() => Promise.race([this.#decided, requests]));
    return this.#endNow;
  }

  get #endNow(): Verdict | Error {
    const verdict = settledVerdict(this.#projects, this.settings);
    const hasError = this.#projects.some(({ failure }) => failure !== undefined);
    return this.#decision ?? this.#failure ?? verdict ?? (hasError ? 'error' : 'timeout');
  }

  #start(kind: PollKind, deadline = this.#deadline): Promise<unknown> {
    const isPaced = kind === 'regular' || kind === 'early';
    const queue = <T>(attempt: () => Promise<T>) =>
      this.#queue(async () => {
        if (isPaced) await this.#pace.hold();
        return attempt();
      });
    const started = Promise.all(this.#projects.flatMap((project) => project.poll({ kind, deadline, queue })));
    this.#openRequests = Promise.all([this.#openRequests, started]);
    return started;
  }

  #handleFailure({ error, endsAtOnce }: PollFailure, project: ProjectPoller): void {
    const endsOneProject = error instanceof RequestError && !(error instanceof RetryAfterExceedsDeadline);
    if (endsOneProject && !this.settings.failFast) project.failure ??= error;
    else if (endsAtOnce) this.#decide(error);
    else this.#failure ??= error;
  }

  #check(): void {
    this.#changes++;
    const verdict = settledVerdict(this.#projects, this.settings);
    if (verdict === undefined) return;
    const isSettled = verdict !== 'failed' || !this.settings.failFast;
    // A project that has been idle for long may have become busy.
    if (isSettled && this.#expireOldReads()) void this.#start('early');
    else this.#decide(verdict);
  }

  /** Returns true if lists must be read again. That happens once in a wait, so that it ends. */
  #expireOldReads(): boolean {
    if (this.#hasReadAgain || this.#deadline.isUnbounded) return false;
    this.#hasReadAgain = true;
    const old = this.#projects.flatMap(({ idleness }) => (idleness?.isOlderThan(maxAgeOfIdleness) ? [idleness] : []));
    for (const idleness of old) idleness.expire();
    return old.length > 0;
  }

  #decide(end: Verdict | Error): void {
    this.#decision ??= end;
    this.#resolveDecided();
  }

  get #isTimeForRegularPoll(): boolean {
    return this.#now >= this.#regularPollAt;
  }

  get #now(): number {
    return this.#deadline.clock.now();
  }
}
