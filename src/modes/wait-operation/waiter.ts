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

/** A promise of the contract. */
const maxConcurrentRequests = 12;
/** Milliseconds. The contract gives a step 2 s to end after its deadline; the final poll may use half of them. */
const finalPollTimeout = 1_000;
/**
 * Milliseconds. If a poll brings no response for this long, its open requests hang, and the next poll starts without
 * them.
 */
const hangsAfter = 500;

export interface WaitSettings {
  /** Exactly one if `target` has ids. */
  readonly projectIds: readonly string[];
  readonly target: Target;
  readonly failOnEmpty: boolean;
  /** Milliseconds between polls. `auto` adapts to the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
}

/** Polls until all operations have ended, one has failed (with `failFast`), or the deadline is reached. */
export function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  return new Waiter(settings, collaborators).run();
}

class Waiter {
  readonly #settings: WaitSettings;
  readonly #deadline: Deadline;
  readonly #stepCancellation: Cancellation;
  readonly #progress: ProgressLog;
  readonly #pace: Pace;
  readonly #began: number;
  readonly #failures: PollFailures;
  readonly #projects: readonly ProjectPoller[];
  readonly #queue = pLimit(maxConcurrentRequests);
  /** Cancels open requests when the wait ends. */
  readonly #requestCancellation = new Cancellation();
  readonly #pendingRequests = new Set<Promise<void>>();
  /** Settles as soon as the result is known. */
  readonly #decision: Promise<Verdict | Error>;
  #decide: (end: Verdict | Error) => void = () => undefined;
  /** Ends the wait, but only after the current poll: its other responses may still show a failed operation. */
  #failure: Error | undefined;
  #changes = 0;
  #polledAt = 0;

  constructor(settings: WaitSettings, { api, deadline, log, random }: Collaborators) {
    this.#settings = settings;
    this.#stepCancellation = deadline.cancellation;
    this.#deadline = new Deadline(deadline.clock, deadline.expiresAt, this.#requestCancellation);
    this.#progress = new ProgressLog(log, this.#deadline, () =>
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
      onFailure: (failure: PollFailure) => this.#recordFailure(failure),
    };
    this.#projects = settings.projectIds.map((id) => new ProjectPoller(id, settings.target, context));
  }

  async run(): Promise<WaitResult> {
    const removeListener = this.#stepCancellation.onCancel(() => this.#requestCancellation.cancel());
    try {
      // An empty list of ids needs no request.
      this.#check();
      if (this.#settledVerdict === undefined) this.#progress.start(this.#settings.projectIds);
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

  /** Sends each request that is due once. */
  async #pollOnce(deadline: Deadline): Promise<Verdict | Error> {
    const requests = Promise.all(this.#start(() => ({ deadline, isLast: true, retry: noRetry, queue: this.#queue })));
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
      // A request that hung can also fail between two polls.
      if (this.#failure !== undefined) return this.#failure;
    }
  }

  /** Ends when all its requests have ended. It does not wait for requests that hang if there is other work. */
  async #poll(): Promise<void> {
    this.#polledAt = this.#deadline.clock.now();
    const requests = Promise.all(this.#start((projectId) => this.#policy(projectId)));
    for (;;) {
      const before = this.#changes;
      if (await this.#settlesWithin(hangsAfter, requests)) return;
      const isSilent = this.#changes === before && this.#pace.heldFor <= 0;
      if (isSilent && this.#projects.some(({ hasWork }) => hasWork)) return;
    }
  }

  /** Runs at the deadline, so that an operation that has just finished is not reported as late. */
  async #pollFinally(): Promise<WaitResult> {
    // These requests have reached the deadline too, so none of them holds up the final poll.
    await Promise.all(this.#pendingRequests);
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

  #start(policyFor: (projectId: string) => PollPolicy): Promise<void>[] {
    const started = this.#projects.flatMap((project) => project.poll(policyFor(project.id)));
    for (const request of started) {
      this.#pendingRequests.add(request);
      void request.then(() => this.#pendingRequests.delete(request));
    }
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

  /** Follows the pace. The poll that confirms an empty list is never late, unless the service throttles. */
  #pause(): number {
    const now = this.#deadline.clock.now();
    const pause = this.#pace.next();
    const trustedAt = Math.max(...this.#projects.map(({ list }) => list.emptyListTrustedAt));
    const isAhead = trustedAt > this.#polledAt && !this.#pace.isSlowed;
    return Math.max(isAhead ? Math.min(pause, trustedAt - now) : pause, this.#pace.heldFor, 0);
  }

  #policy(projectId: string): PollPolicy {
    return {
      deadline: this.#deadline,
      isLast: false,
      ...this.#failures.retryPolicy(projectId),
      queue: (attempt) => this.#queue(() => this.#pace.start(attempt)),
    };
  }

  #check(): void {
    this.#changes++;
    const verdict = this.#settledVerdict;
    if (verdict !== undefined) this.#decide(verdict);
  }

  #recordFailure({ error, endsAtOnce }: PollFailure): void {
    if (endsAtOnce) this.#decide(error);
    else this.#failure ??= error;
  }

  #result(verdict: Verdict, cause?: RequestError): WaitResult {
    return createWaitResult(verdict, this.#projects, {
      unresponsiveProjects: this.#settings.projectIds.filter((id) => !this.#failures.hasResponded(id)),
      cause,
      elapsed: this.#deadline.clock.now() - this.#began,
    });
  }

  get #settledVerdict(): Verdict | undefined {
    return settledVerdict(this.#projects, this.#settings);
  }
}
