import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { finalPollTimeout, maxConcurrentRequests, maxFirstRead } from './limits.js';
import { Pace } from './pace.js';
import type { PollContext } from './poll-context.js';
import { PollFailures } from './poll-failures.js';
import { Polls } from './polls.js';
import { ProgressLog } from './progress-log.js';
import { ProjectPoller } from './project-poller.js';
import type { WaitSettings } from './settings.js';
import { isPending } from './tracked-operations.js';
import { firstFailure, settledEnd, type WaitEnd, type WaitResult, waitResult } from './wait-result.js';

/** For each group of 12 requests but the first, the final poll may begin this many milliseconds earlier (`startToEndBy`). */
const leadPerGroup = 300;
const maxLead = 2_400;
/** Maximum number of final polls. The last of them begins at the deadline. */
const maxFinalPolls = 3;

/** Polls until all operations have ended or the deadline expires. With `failFast` the first failure ends the wait. */
export async function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  const waiter = new Waiter(settings, collaborators);
  const { clock, cancellation } = collaborators.deadline;
  cancellation.onCancel(() => waiter.stop());
  try {
    const end = await waiter.end();
    // The result of the final poll is valid after the deadline, but not after a cancel.
    if (end === 'finished') await new Deadline(clock, Number.POSITIVE_INFINITY, cancellation).check();
    return waiter.result(end);
  } catch (error) {
    if (error instanceof CancelledError) return waiter.result('cancelled');
    throw error;
  } finally {
    waiter.stop();
  }
}

class Waiter {
  /** The number of requests of a final poll. If lists have several pages, the poll needs more. */
  readonly #leastRequests: number;
  readonly #context: PollContext;
  readonly #projects: readonly ProjectPoller[];
  readonly #polls: Polls;
  /** Cancels pauses and open requests when the wait ends. */
  readonly #cancellation = new Cancellation();
  /** Set as soon as a response decides the result. */
  #decision: WaitEnd | undefined;
  /** True once the lists of projects that had been idle for long were read again. */
  #hasReadAgain = false;
  /** True from the first final poll on. A later response can show a failure, so the step waits for all responses. */
  #isLastPoll: boolean;

  constructor(
    private readonly settings: WaitSettings,
    private readonly collaborators: Collaborators,
  ) {
    const { api, deadline, log, random } = collaborators;
    const { clock, expiresAt } = deadline;
    const { projectIds, target, pollInterval, pollsOnce } = settings;
    // Each given id counts, because it is requested singly if the list fails.
    this.#leastRequests = 'ids' in target ? target.ids.length : projectIds.length;
    const groups = Math.ceil(this.#leastRequests / maxConcurrentRequests);
    const lead = Math.min(Math.max(0, groups - 1) * leadPerGroup, maxLead, expiresAt / 2);
    // The deadline of all polls but the final one.
    const beforeFinalPoll = new Deadline(clock, expiresAt - lead, this.#cancellation);
    const pace = new Pace(beforeFinalPoll, random, pollInterval);
    const progress = new ProgressLog(log, deadline, settings, () =>
      this.#projects.flatMap(({ tracked }) => tracked.all.filter(isPending)),
    );
    this.#isLastPoll = pollsOnce;
    this.#context = {
      api,
      clock,
      pollsOnce,
      began: clock.now(),
      maxFirstRead: maxFirstRead(projectIds.length),
      progress,
      failures: new PollFailures(deadline, progress, pace, random, pollsOnce),
      onChange: () => this.#check(),
      onFatalError: (error) => this.#decide(error),
    };
    this.#projects = projectIds.map((id) => new ProjectPoller(id, target, this.#context));
    this.#polls = new Polls(this.#projects, beforeFinalPoll, pace);
  }

  async end(): Promise<WaitEnd> {
    // With an empty list of ids, the result is known without a request.
    if (this.#projects.every(({ isSettled }) => isSettled)) return this.#endNow;
    this.#context.progress.start();
    try {
      if (this.settings.pollsOnce) await this.#polls.pollOnce();
      else await this.#pollUntilDeadline();
    } catch (error) {
      if (this.#decision === undefined && !(error instanceof DeadlineExceeded)) throw error;
    }
    return this.#endNow;
  }

  stop(): void {
    this.#cancellation.cancel();
    this.#context.progress.stop();
  }

  result(end: WaitEnd): WaitResult {
    return waitResult(end, this.#projects, this.#context);
  }

  async #pollUntilDeadline(): Promise<void> {
    try {
      for (;;) await this.#polls.pollAndPause();
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      await this.#pollFinally();
    }
  }

  /** Polls again near the deadline, because an operation may have just finished. */
  async #pollFinally(): Promise<void> {
    const { clock, expiresAt } = this.collaborators.deadline;
    const deadline = new Deadline(clock, expiresAt + finalPollTimeout, this.#cancellation);
    // Node's timers fire up to 1 ms late, so a request may still be open. The final poll would skip its operation.
    await this.#polls.openRequests;
    let polls = 0;
    do {
      const start = this.#polls.startToEndBy(deadline.expiresAt, this.#leastRequests);
      await deadline.sleepUntil(++polls < maxFinalPolls ? Math.min(expiresAt, start) : expiresAt);
      this.#context.failures.clearRetryAfter();
      this.#expireOldReads();
      this.#isLastPoll = true;
      await this.#polls.pollOnce(deadline);
      // If this poll ended before the deadline, there is time for another one.
    } while (this.#endNow === 'timeout' && clock.now() < expiresAt);
  }

  get #endNow(): WaitEnd {
    return this.#decision ?? settledEnd(this.#projects, this.settings) ?? firstFailure(this.#projects) ?? 'timeout';
  }

  #check(): void {
    const end = settledEnd(this.#projects, this.settings);
    if (end === undefined) return;
    const isFirstFailure = this.settings.failFast && end !== 'finished' && end !== 'empty';
    // The last poll does not end yet, because another response may still show that an operation has failed.
    if (this.#isLastPoll && !(this.settings.failFast && end === 'failed')) return;
    // A project that has been idle for long may have become busy.
    if (!isFirstFailure && this.#expireOldReads()) void this.#polls.start('early');
    else this.#decide(end);
  }

  /** Returns true if lists must be read again. That happens only once, so that the wait ends. */
  #expireOldReads(): boolean {
    if (this.#hasReadAgain) return false;
    this.#hasReadAgain = true;
    let hasExpired = false;
    for (const { idleness, failure } of this.#projects)
      if (failure === undefined && idleness?.expireIfOld()) hasExpired = true;
    return hasExpired;
  }

  #decide(end: WaitEnd): void {
    this.#decision ??= end;
    this.#cancellation.cancel();
  }
}
