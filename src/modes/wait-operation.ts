import pLimit from 'p-limit';
import type { Operation } from '../api/records.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { fiveTries, once, type RetryRule } from '../http/retry.js';
import { Cancelled, Limit, TimeUp } from '../time/limit.js';
import { Stop } from '../time/stop.js';
import type { Collaborators } from './collaborators.js';
import { Narrator } from './wait/narrator.js';
import { Pace } from './wait/pace.js';
import { NotFound, type PollFailure, PollFailures } from './wait/poll-failures.js';
import type { Watched } from './wait/roster.js';
import type { Target } from './wait/target.js';
import { type PollPolicy, WatchedProject } from './wait/watched-project.js';

/** A promise of the contract. */
const maxAtOnce = 12;
/** Milliseconds. The contract gives a step 2 s to end after its deadline; the final poll may use half of them. */
const finalPollTakes = 1_000;
/**
 * Milliseconds. If a poll brings no response for this long, its open requests hang, and the next poll starts without
 * them.
 */
const silence = 500;

export interface WaitSettings {
  /** Exactly one if `target` has ids. */
  readonly projectIds: readonly string[];
  readonly target: Target;
  readonly failOnEmpty: boolean;
  /** Milliseconds between polls. `auto` adapts to the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
}

export type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';

export interface Waited {
  readonly verdict: Verdict;
  readonly watched: readonly Watched[];
  readonly failedBefore: readonly Operation[];
  /** Number of unfinished operations that the filter left out. */
  readonly notAdmitted: number;
  /** Ids of projects that never gave a usable response. */
  readonly unanswered: readonly string[];
  /** The error that ended the wait, or the last failure of a wait that reached its deadline. */
  readonly cause: ApiError | NotFound | undefined;
  /** Milliseconds. */
  readonly took: number;
}

/** Polls until all operations have ended, one has failed (with `failFast`), or the deadline is reached. */
export function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<Waited> {
  return new Wait(settings, collaborators).run();
}

class Wait {
  readonly #settings: WaitSettings;
  readonly #limit: Limit;
  readonly #cancel: Stop;
  readonly #narrator: Narrator;
  readonly #pace: Pace;
  readonly #untilAnswered: RetryRule;
  readonly #began: number;
  readonly #failures: PollFailures;
  readonly #projects: readonly WatchedProject[];
  readonly #queue = pLimit(maxAtOnce);
  /** Cancels open requests when the wait ends. */
  readonly #requests = new Stop();
  readonly #underWay = new Set<Promise<void>>();
  /** Settles as soon as the result is known. */
  readonly #decision: Promise<Verdict>;
  #decide: (verdict: Verdict) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Ends the wait after the current poll, whose other responses may show a failed operation. */
  #failure: Error | undefined;
  #changes = 0;
  #polledAt = 0;
  /** Until this time on the step's clock, another 423 or 429 does not slow polling down further. */
  #slowedUntil = 0;
  /** Until this time on the step's clock, a 429 holds back all requests. */
  #throttledUntil = 0;

  constructor(settings: WaitSettings, { api, limit, log, random }: Collaborators) {
    this.#settings = settings;
    this.#cancel = limit.cancel;
    this.#limit = new Limit(limit.clock, limit.at, this.#requests);
    this.#narrator = new Narrator(log, this.#limit, () => this.#pending);
    this.#failures = new PollFailures(this.#limit, this.#narrator);
    this.#pace = new Pace(random, settings.pollInterval);
    this.#untilAnswered = fiveTries(random);
    this.#began = limit.clock.now();
    this.#decision = new Promise((resolve, reject) => {
      this.#decide = resolve;
      this.#fail = reject;
    });
    const watcher = {
      api,
      limit: this.#limit,
      began: this.#began,
      narrator: this.#narrator,
      failures: this.#failures,
      onChange: () => this.#check(),
      onFailure: (failure: PollFailure) => this.#noteFailure(failure),
    };
    this.#projects = settings.projectIds.map((id) => new WatchedProject(id, settings.target, watcher));
  }

  async run(): Promise<Waited> {
    const forget = this.#cancel.on(() => this.#requests.stop());
    try {
      // An empty list of ids needs no request.
      this.#check();
      if (this.#settled() === undefined) this.#narrator.begin(this.#settings.projectIds);
      const polling = this.#limit.endless ? this.#pollOnce() : this.#pollUntilDecided();
      return this.#ended(await Promise.race([this.#decision, polling]));
    } catch (error) {
      if (error instanceof Cancelled) return this.#ended('cancelled');
      if (error instanceof TimeUp) return await this.#pollFinally();
      if (error instanceof AskedToWaitTooLong) return this.#ended('timeout', error);
      if (error instanceof ApiError || error instanceof NotFound) return this.#ended('error', error);
      throw error;
    } finally {
      forget();
      this.#requests.stop();
      this.#narrator.silence();
    }
  }

  async #pollOnce(): Promise<Verdict> {
    const requests = Promise.all(this.#start(() => this.#policyOfOnePoll(this.#limit)));
    await this.#limit.run(() => requests);
    if (this.#failure !== undefined) throw this.#failure;
    return this.#settled() ?? 'timeout';
  }

  async #pollUntilDecided(): Promise<never> {
    for (;;) {
      await this.#poll();
      if (this.#failure === undefined) {
        if (this.#limit.clock.now() >= this.#slowedUntil) this.#pace.accepted();
        await this.#limit.sleep(this.#pause());
      }
      // A request that hung can also fail between two polls.
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  /** Ends when all its requests have ended. It does not wait for requests that hang if there is other work. */
  async #poll(): Promise<void> {
    this.#polledAt = this.#limit.clock.now();
    const requests = Promise.all(this.#start((projectId) => this.#policy(projectId)));
    for (;;) {
      const before = this.#changes;
      if (await this.#endsWithin(silence, requests)) return;
      const isSilent = this.#changes === before && this.#limit.clock.now() >= this.#throttledUntil;
      if (isSilent && this.#projects.some(({ hasWork }) => hasWork)) return;
    }
  }

  /** Runs at the deadline, so that an operation that has just finished is not reported as late. */
  async #pollFinally(): Promise<Waited> {
    // These requests have reached the deadline too, so none of them holds up the final poll.
    await Promise.all(this.#underWay);
    this.#failures.forgetRetryAfter();
    const { clock } = this.#limit;
    const limit = new Limit(clock, clock.now() + finalPollTakes, this.#requests);
    const requests = Promise.all(this.#start(() => this.#policyOfOnePoll(limit)));
    try {
      await Promise.race([this.#decision, limit.run(() => requests)]);
    } catch (error) {
      if (error instanceof Cancelled) return this.#ended('cancelled');
    }
    return this.#ended(this.#settled() ?? 'timeout', this.#failures.lastFailure);
  }

  #start(policyFor: (projectId: string) => PollPolicy): Promise<void>[] {
    const started = this.#projects.flatMap((project) => project.poll(policyFor(project.id)));
    for (const request of started) {
      this.#underWay.add(request);
      void request.then(() => this.#underWay.delete(request));
    }
    return started;
  }

  async #endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
    try {
      await this.#limit.within(ms).run(() => work);
      return true;
    } catch (error) {
      if (error instanceof TimeUp && !this.#limit.struck) return false;
      throw error;
    }
  }

  /** Follows the pace. The poll that confirms an empty list is never late, unless the service throttles. */
  #pause(): number {
    const now = this.#limit.clock.now();
    const pause = this.#pace.next(this.#waited);
    const believedAt = Math.max(...this.#projects.map((project) => project.believedAt));
    const isAhead = believedAt > this.#polledAt && !this.#pace.isSlowed;
    return Math.max(isAhead ? Math.min(pause, believedAt - now) : pause, this.#throttledUntil - now, 0);
  }

  #policy(projectId: string): PollPolicy {
    return {
      limit: this.#limit,
      isLast: false,
      // A throttled request is retried until the deadline. A failed one is retried only until the first response of its
      // project. After that, the next poll repeats it.
      retry: (error, times) => {
        if (error.asksForPatience) return this.#slowDown(error);
        return this.#failures.isAnswered(projectId) ? undefined : this.#untilAnswered(error, times);
      },
      tell: (error) => this.#failures.recordRetry(error),
      queue: (attempt) => this.#queue(() => this.#whenNotThrottled(attempt)),
    };
  }

  #policyOfOnePoll(limit: Limit): PollPolicy {
    return { limit, isLast: true, retry: once, queue: this.#queue };
  }

  /**
   * Returns how long the throttled request waits, in milliseconds. A 423 locks one resource, so other requests do not
   * wait for it.
   */
  #slowDown({ status, retryAfter = 0 }: ApiError): number {
    const now = this.#limit.clock.now();
    // Only the first of several parallel responses slows polling down: the other requests were sent before it arrived.
    if (now >= this.#slowedUntil) {
      this.#pace.refused(status === 423 ? 0 : retryAfter);
      this.#slowedUntil = now + this.#pace.next(this.#waited);
    }
    const until = Math.max(this.#slowedUntil, now + retryAfter);
    if (status === 429) this.#throttledUntil = Math.max(this.#throttledUntil, until);
    return until - now;
  }

  async #whenNotThrottled<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock } = this.#limit;
    let waitedUntil = 0;
    // Another response may extend the pause meanwhile.
    while (this.#throttledUntil > Math.max(waitedUntil, clock.now())) {
      waitedUntil = this.#throttledUntil;
      await this.#limit.sleep(waitedUntil - clock.now());
    }
    return attempt();
  }

  #check(): void {
    this.#changes++;
    const verdict = this.#settled();
    if (verdict !== undefined) this.#decide(verdict);
  }

  #noteFailure({ error, atOnce }: PollFailure): void {
    if (atOnce) this.#fail(error);
    else this.#failure ??= error;
  }

  /** Considers only states that cannot change again. Nothing else makes a wait succeed. */
  #settled(): 'finished' | 'empty' | 'failed' | undefined {
    const { failFast, failOnEmpty } = this.#settings;
    const hasFailed = this.#projects.some(({ roster }) => roster.failed.size > 0);
    if (hasFailed && failFast) return 'failed';
    if (!this.#projects.every(({ isSettled }) => isSettled)) return undefined;
    if (hasFailed) return 'failed';
    return failOnEmpty && this.#projects.every(({ roster }) => roster.isEmpty) ? 'empty' : 'finished';
  }

  #ended(verdict: Verdict, cause?: Waited['cause']): Waited {
    const hasFailed = this.#projects.some(({ roster }) => roster.failed.size > 0);
    return {
      // A failed operation is proven, so `failed` takes precedence over `timeout` and `error`.
      verdict: verdict !== 'cancelled' && hasFailed ? 'failed' : verdict,
      watched: this.#projects.flatMap(({ roster }) => roster.watched),
      failedBefore: this.#projects.flatMap(({ roster }) => roster.failedBefore),
      notAdmitted: this.#projects.reduce((sum, { roster }) => sum + roster.notAdmitted, 0),
      unanswered: this.#projects.map(({ id }) => id).filter((id) => !this.#failures.isAnswered(id)),
      cause,
      took: this.#waited,
    };
  }

  get #pending(): Watched[] {
    return this.#projects.flatMap(({ roster }) => roster.watched.filter(({ id }) => roster.pending.has(id)));
  }

  get #waited(): number {
    return this.#limit.clock.now() - this.#began;
  }
}
