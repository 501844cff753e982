import pLimit from 'p-limit';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { noRetry } from '../../http/retry.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { Pace } from './pace.js';
import { type PollFailure, PollFailures } from './poll-failures.js';
import { ProgressLog } from './progress-log.js';
import { type PollPolicy, ProjectPoller } from './project-poller.js';
import { isPending, type Target } from './tracked-operations.js';
import { createWaitResult, settledVerdict, type Verdict, type WaitResult } from './wait-result.js';

/** The contract promises at most this many open requests. */
const maxConcurrentRequests = 12;
/** By contract, a step may end up to 2 s after its deadline. The final poll gets half of this time. In milliseconds. */
const finalPollTimeout = 1_000;
/** After this many milliseconds without a response, the next poll starts even if requests are still open. */
const hangsAfter = 500;

export interface WaitSettings {
  /** Exactly one project if `target` names operations by their ids. */
  readonly projectIds: readonly string[];
  readonly target: Target;
  readonly failOnEmpty: boolean;
  /** In milliseconds. With `auto`, the interval grows with the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
}

/** Polls until all operations have ended or the deadline expires. With `failFast` the first failure ends the wait. */
export function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  return new Waiter(settings, collaborators).run(collaborators.deadline.cancellation);
}

class Waiter {
  readonly #deadline: Deadline;
  readonly #progress: ProgressLog;
  readonly #pace: Pace;
  readonly #began: number;
  readonly #failures: PollFailures;
  readonly #projects: readonly ProjectPoller[];
  readonly #queue = pLimit(maxConcurrentRequests);
  /** Cancels the requests that are still open when the wait ends. */
  readonly #requestCancellation = new Cancellation();
  #openRequests: Promise<unknown> = Promise.resolve();
  /** Resolves as soon as a response decides the result. */
  readonly #decision: Promise<Verdict | Error>;
  #decide: (end: Verdict | Error) => void = () => undefined;
  /** This failure ends the wait after the current poll. Another response of that poll may still show a failed operation. */
  #failure: Error | undefined;
  /** The number of responses and failures. */
  #changes = 0;
  #polledAt = 0;

  constructor(
    private readonly settings: WaitSettings,
    { api, deadline, log, random }: Collaborators,
  ) {
    this.#deadline = new Deadline(deadline.clock, deadline.expiresAt, this.#requestCancellation);
    this.#progress = new ProgressLog(log, this.#deadline, settings.projectIds, () =>
      this.#projects.flatMap(({ tracked }) => tracked.all.filter(isPending)),
    );
    this.#pace = new Pace(this.#deadline, random, settings.pollInterval);
    this.#failures = new PollFailures(this.#deadline, this.#progress, this.#pace, random);
    this.#began = deadline.clock.now();
    this.#decision = new Promise((resolve) => {
      this.#decide = resolve;
    });
    const context = {
      api,
      deadline: this.#deadline,
      began: this.#began,
      progress: this.#progress,
      failures: this.#failures,
      onChange: () => this.#check(),
      onFailure: ({ error, endsAtOnce }: PollFailure) => {
        if (endsAtOnce) this.#decide(error);
        else this.#failure ??= error;
      },
    };
    this.#projects = settings.projectIds.map((id) => new ProjectPoller(id, settings.target, context));
  }

  async run(stepCancellation: Cancellation): Promise<WaitResult> {
    const removeListener = stepCancellation.onCancel(() => this.#requestCancellation.cancel());
    try {
      // With an empty list of ids, the result is known without a request.
      this.#check();
      if (this.#settledVerdict === undefined) this.#progress.start();
      const polling = this.#deadline.isUnbounded ? this.#pollOnce(this.#deadline) : this.#pollUntilDecided();
      const end = await Promise.race([this.#decision, polling]);
      if (!(end instanceof Error)) return this.#result(end);
      if (!(end instanceof RequestError)) throw end;
      return this.#result(end instanceof RetryAfterExceedsDeadline ? 'timeout' : 'error', end);
    } catch (error) {
      if (error instanceof CancelledError) return this.#result('cancelled');
      if (error instanceof DeadlineExceeded) return await this.#pollFinally();
      throw error;
    } finally {
      removeListener();
      this.#requestCancellation.cancel();
      this.#progress.stop();
    }
  }

  async #pollOnce(deadline: Deadline): Promise<Verdict | Error> {
    const requests = this.#start(() => ({ deadline, isLast: true, retry: noRetry, queue: this.#queue }));
    await deadline.race(() => requests);
    return this.#failure ?? this.#settledVerdict ?? 'timeout';
  }

  async #pollUntilDecided(): Promise<Error> {
    for (;;) {
      await this.#poll();
      if (this.#failure === undefined) {
        this.#pace.recordPoll();
        await this.#deadline.sleep(this.#pause());
      }
      // A request from an earlier poll can fail during the pause.
      if (this.#failure !== undefined) return this.#failure;
    }
  }

  /** Ends when all requests have ended. Ends earlier if the open requests hang while another request is due. */
  async #poll(): Promise<void> {
    this.#polledAt = this.#deadline.clock.now();
    const requests = this.#start((projectId) => ({
      deadline: this.#deadline,
      isLast: false,
      ...this.#failures.retryPolicy(projectId),
      queue: (attempt) => this.#queue(() => this.#pace.start(attempt)),
    }));
    for (;;) {
      const before = this.#changes;
      if (await this.#settlesWithin(hangsAfter, requests)) return;
      const isSilent = this.#changes === before && this.#pace.heldFor <= 0;
      if (isSilent && this.#projects.some(({ hasWork }) => hasWork)) return;
    }
  }

  /** Polls once more at the deadline, because an operation may have just finished. */
  async #pollFinally(): Promise<WaitResult> {
    // Open requests end no later than the deadline of the wait, so they do not delay the final poll.
    await this.#openRequests;
    this.#failures.clearRetryAfter();
    const { clock } = this.#deadline;
    const deadline = new Deadline(clock, clock.now() + finalPollTimeout, this.#requestCancellation);
    try {
      await Promise.race([this.#decision, this.#pollOnce(deadline)]);
    } catch (error) {
      if (error instanceof CancelledError) return this.#result('cancelled');
    }
    return this.#result(this.#settledVerdict ?? 'timeout', this.#failures.lastFailure);
  }

  #start(policyFor: (projectId: string) => PollPolicy): Promise<unknown> {
    const started = Promise.all(this.#projects.flatMap((project) => project.poll(policyFor(project.id))));
    this.#openRequests = Promise.all([this.#openRequests, started]);
    return started;
  }

  async #settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
    try {
      await this.#deadline.within(ms).race(() => work);
      return true;
    } catch (error) {
      if (error instanceof DeadlineExceeded && !this.#deadline.isExpired) return false;
      throw error;
    }
  }

  /** Milliseconds until the next poll. Unless requests are throttled, the poll that confirms an empty list is not late. */
  #pause(): number {
    const now = this.#deadline.clock.now();
    const pause = this.#pace.next();
    const trustedAt = Math.max(...this.#projects.map(({ list }) => list.emptyListTrustedAt));
    const isAhead = trustedAt > this.#polledAt && !this.#pace.isSlowed;
    return Math.max(isAhead ? Math.min(pause, trustedAt - now) : pause, this.#pace.heldFor, 0);
  }

  #check(): void {
    this.#changes++;
    const verdict = this.#settledVerdict;
    if (verdict !== undefined) this.#decide(verdict);
  }

  #result(verdict: Verdict, cause?: RequestError): WaitResult {
    return createWaitResult(verdict, this.#projects, {
      unresponsiveProjects: this.settings.projectIds.filter((id) => !this.#failures.hasResponded(id)),
      cause,
      elapsed: this.#deadline.clock.now() - this.#began,
    });
  }

  get #settledVerdict(): Verdict | undefined {
    return settledVerdict(this.#projects, this.settings);
  }
}
