import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { maxAgeOfIdleness, maxConcurrentRequests, maxFirstRead } from './limits.js';
import { Pace } from './pace.js';
import type { PollFailure } from './poll.js';
import { PollFailures } from './poll-failures.js';
import { Polls } from './polls.js';
import { ProgressLog } from './progress-log.js';
import { ProjectPoller } from './project-poller.js';
import type { WaitSettings } from './target.js';
import { isPending } from './tracked-operations.js';
import { createWaitResult, settledEnd, type WaitEnd, type WaitResult } from './wait-result.js';

/** By contract, a step may end up to 2 s after its deadline. The final poll gets half of this time. In milliseconds. */
const finalPollTimeout = 1_000;
/** The final poll of many projects begins this much earlier for each further group of parallel requests. In milliseconds. */
const leadPerGroup = 300;

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
  readonly #began: number;
  readonly #progress: ProgressLog;
  readonly #failures: PollFailures;
  readonly #projects: readonly ProjectPoller[];
  readonly #polls: Polls;
  /** Cancels the requests that are still open when the wait ends. */
  readonly #requestCancellation = new Cancellation();
  /** Set as soon as a response decides the result. */
  #decision: WaitEnd | undefined;
  #reportDecision = (): void => undefined;
  /** This failure ends the wait after the current poll. Another response of that poll may still show a failed operation. */
  #failure: Error | undefined;
  /** True once the lists of projects that had been idle for long were read again. */
  #hasReadAgain: boolean;
  /** In the final poll, any response can still show a failure or an unfinished operation. */
  #isFinal = false;

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
    this.#hasReadAgain = deadline.isUnbounded;
    this.#progress = new ProgressLog(log, deadline, projectIds, () =>
      this.#projects.flatMap(({ tracked }) => tracked.all.filter(isPending)),
    );
    const pace = new Pace(this.#deadline, random, pollInterval);
    this.#failures = new PollFailures(this.#deadline, this.#progress, pace, random);
    const context = {
      api,
      deadline: this.#deadline,
      began: this.#began,
      maxFirstRead: maxFirstRead(projectIds.length),
      progress: this.#progress,
      failures: this.#failures,
      onChange: () => this.#check(),
    };
    const onFailure = (failure: PollFailure, project: ProjectPoller) => this.#handleFailure(failure, project);
    this.#projects = projectIds.map((id) => new ProjectPoller(id, target, context, onFailure));
    const decided = new Promise<'decided'>((resolve) => {
      this.#reportDecision = () => resolve('decided');
    });
    this.#polls = new Polls(this.#projects, this.#deadline, pace, decided);
  }

  async end(): Promise<WaitEnd> {
    // With an empty list of ids, the result is known without a request.
    this.#check();
    if (this.#decision === undefined) this.#progress.start();
    if (this.#deadline.isUnbounded) {
      await this.#polls.pollOnce('only', this.#deadline);
      return this.#endNow;
    }
    try {
      for (;;) {
        await this.#polls.pollAndPause();
        // A request from an earlier poll can fail during the pause.
        const end = this.#decision ?? this.#failure;
        if (end !== undefined) return end;
      }
    } catch (error) {
      if (error instanceof DeadlineExceeded) return this.#pollFinally();
      throw error;
    }
  }

  stop(): void {
    this.#requestCancellation.cancel();
    this.#progress.stop();
  }

  result(end: WaitEnd): WaitResult {
    const isError = end instanceof Error;
    if (isError && !(end instanceof RequestError)) throw end;
    const verdict = !isError ? end : end instanceof RetryAfterExceedsDeadline ? 'timeout' : 'error';
    return createWaitResult(verdict, this.#projects, {
      unresponsiveProjects: this.settings.projectIds.filter((id) => !this.#failures.hasResponded(id)),
      cause: isError ? end : verdict === 'timeout' ? this.#failures.lastFailure : undefined,
      elapsed: this.#deadline.clock.now() - this.#began,
    });
  }

  /** Polls once more at the deadline, because an operation may have just finished. */
  async #pollFinally(): Promise<WaitEnd> {
    // Open requests end no later than the deadline of the other polls, so they do not delay this one.
    await this.#polls.openRequests;
    this.#failures.clearRetryAfter();
    this.#expireOldReads();
    this.#isFinal = true;
    const { clock, expiresAt } = this.collaborators.deadline;
    try {
      const deadline = new Deadline(clock, expiresAt + finalPollTimeout, this.#requestCancellation);
      await this.#polls.pollOnce('final', deadline);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
    }
    return this.#endNow;
  }

  get #endNow(): WaitEnd {
    const settled = settledEnd(this.#projects, this.settings);
    const failed = this.#projects.find(({ failure }) => failure !== undefined);
    return this.#decision ?? this.#failure ?? settled ?? failed?.failure ?? 'timeout';
  }

  #handleFailure({ error, endsAtOnce }: PollFailure, project: ProjectPoller): void {
    const endsOneProject = error instanceof RequestError && !(error instanceof RetryAfterExceedsDeadline);
    if (endsOneProject && !this.settings.failFast) project.failure ??= error;
    else if (endsAtOnce) this.#decide(error);
    else this.#failure ??= error;
  }

  #check(): void {
    this.#polls.changes++;
    const end = settledEnd(this.#projects, this.settings);
    if (end === undefined) return;
    const isDecisive = end === 'failed' && this.settings.failFast;
    if (this.#isFinal && !isDecisive) return;
    // A project that has been idle for long may have become busy.
    if (!isDecisive && this.#expireOldReads()) void this.#polls.start('early');
    else this.#decide(end);
  }

  /** Returns true if lists must be read again. That happens once in a wait, so that it ends. */
  #expireOldReads(): boolean {
    if (this.#hasReadAgain) return false;
    this.#hasReadAgain = true;
    const old = this.#projects.filter(
      ({ idleness, failure }) => failure === undefined && idleness?.isOlderThan(maxAgeOfIdleness),
    );
    for (const { idleness } of old) idleness?.expire();
    return old.length > 0;
  }

  #decide(end: WaitEnd): void {
    this.#decision ??= end;
    this.#reportDecision();
  }
}
