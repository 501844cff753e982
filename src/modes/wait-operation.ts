import type { ControlApi } from '../api/control-api.js';
import type { Operation } from '../api/records.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { fiveTries, type Manner, once, type RetryRule } from '../http/retry.js';
import { plain } from '../text/plain.js';
import { Cancelled, Limit, TimeUp } from '../time/limit.js';
import type { Collaborators } from './collaborators.js';
import { Narrator } from './wait/narrator.js';
import { Pace } from './wait/pace.js';
import { Roster, type Watched } from './wait/roster.js';
import type { Target } from './wait/target.js';

/** Where more operations than these are pending, the list is read in place of a request for each, and how much of it. */
const fewEnoughToAskSingly = 2;
const newest = 200;
/** How long what is not found may be too new, or, once it was seen, away. */
const graceForNew = 5_000;
const graceForSeen = 30_000;
const lastLookTakes = 1_000;
const longestPauseAfterFailure = 60_000;

/** Stands for whatever request is tried again. */
const retried = '';

export interface WaitSettings {
  readonly projectId: string;
  readonly target: Target;
  /** Milliseconds between looks; `auto`: as fits the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
}

export type Verdict = 'finished' | 'empty' | 'failed' | 'timeout' | 'cancelled' | 'error';

/** How a wait ended. */
export interface Waited {
  readonly verdict: Verdict;
  readonly watched: readonly Watched[];
  readonly failedBefore: readonly Operation[];
  /** Why it is no better: what made waiting on pointless, or what failed last. */
  readonly cause: ApiError | NotFound | undefined;
  /** Milliseconds. */
  readonly took: number;
}

/** Not found for longer than it may take to appear. */
export class NotFound extends Error {
  constructor(
    what: string,
    readonly answer: ApiError,
  ) {
    super(`${what} is not found (${answer.message})`, { cause: answer });
  }
}

/** Looks until all has ended, or one thing has failed, or the time is up. */
export function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<Waited> {
  return new Watch(settings, collaborators).run();
}

class Watch {
  readonly #settings: WaitSettings;
  readonly #api: ControlApi;
  readonly #limit: Limit;
  readonly #roster: Roster;
  readonly #narrator: Narrator;
  readonly #pace: Pace;
  readonly #untilAnswered: RetryRule;
  readonly #began: number;
  /** Since when it is not found. */
  readonly #missing = new Map<string, number>();
  #answered = false;
  #listIsRead = false;
  /** What could not be seen when it was looked at last, and why. */
  readonly #troubles = new Map<string, ApiError>();
  /** How long the service has asked to be left alone since the last look. */
  #leaveAlone = 0;

  constructor(settings: WaitSettings, { api, limit, log, random }: Collaborators) {
    this.#settings = settings;
    this.#api = api;
    this.#limit = limit;
    this.#roster = new Roster(settings.target);
    this.#narrator = new Narrator(log, limit, this.#roster);
    this.#pace = new Pace(random, settings.pollInterval);
    this.#untilAnswered = fiveTries(random);
    this.#began = limit.clock.now();
  }

  async run(): Promise<Waited> {
    try {
      // The first request is on its way before anything is said.
      const looking = this.#limit.endless ? this.#lookOnce() : this.#lookUntilSettled();
      this.#narrator.begin(this.#settings.projectId);
      return this.#ended(await looking);
    } catch (error) {
      if (error instanceof Cancelled) return this.#ended('cancelled');
      if (error instanceof TimeUp) return await this.#lookForTheLastTime();
      if (error instanceof AskedToWaitTooLong) return this.#ended('timeout', error);
      if (error instanceof ApiError || error instanceof NotFound) return this.#ended('error', error);
      throw error;
    } finally {
      this.#narrator.silence();
    }
  }

  async #lookUntilSettled(): Promise<Verdict> {
    for (;;) {
      await this.#look(this.#limit, this.#whileWaiting);
      const verdict = this.#settled();
      if (verdict !== undefined) return verdict;
      await this.#limit.sleep(Math.max(this.#pace.next(this.#waited), this.#leaveAlone));
    }
  }

  async #lookOnce(): Promise<Verdict> {
    await this.#look(this.#limit, once);
    return this.#settled() ?? 'timeout';
  }

  /** At the deadline, so that what finished a moment ago is not called late. */
  async #lookForTheLastTime(): Promise<Waited> {
    const { clock, cancel } = this.#limit;
    try {
      await this.#look(new Limit(clock, clock.now() + lastLookTakes, cancel), once);
    } catch (error) {
      if (error instanceof Cancelled) return this.#ended('cancelled');
    }
    return this.#ended(this.#settled() ?? 'timeout', this.#troubles.values().next().value);
  }

  /** What is known for good. A wait succeeds by this alone. */
  #settled(): 'finished' | 'empty' | 'failed' | undefined {
    const { target, failFast } = this.#settings;
    const { pending, failed, watched } = this.#roster;
    if (failed.size > 0 && (failFast || pending.size === 0)) return 'failed';
    // Nothing pending says nothing about `all` where this look has not seen the list to its end.
    if (pending.size > 0 || ('all' in target && !this.#listIsRead)) return undefined;
    return 'all' in target && target.failOnEmpty && watched.length === 0 ? 'empty' : 'finished';
  }

  #ended(verdict: Verdict, cause?: Waited['cause']): Waited {
    return {
      // A failure that was seen is proof, whatever else came to pass.
      verdict: verdict !== 'cancelled' && this.#roster.failed.size > 0 ? 'failed' : verdict,
      watched: this.#roster.watched,
      failedBefore: this.#roster.failedBefore,
      cause,
      took: this.#waited,
    };
  }

  /** Looks at all that is pending: one that cannot be seen does not hide the others. */
  async #look(limit: Limit, retry: RetryRule): Promise<void> {
    this.#listIsRead = false;
    this.#leaveAlone = 0;
    const manner: Manner = { limit, retry, tell: this.#tellOfRetry };
    let ends: unknown;
    const asked = new Set(this.#roster.pending);
    if ('all' in this.#settings.target || asked.size > fewEnoughToAskSingly) {
      ends = await this.#lookAtNewest(asked, manner);
    }
    for (const id of asked) {
      if (this.#settings.failFast && this.#roster.failed.size > 0) break;
      ends = (await this.#lookAt(id, manner)) ?? ends;
    }
    if (ends !== undefined) throw ends;
    this.#pace.accepted();
  }

  /** Takes out of `asked` what the newest operations show. Answers what ends the wait, if it does not throw it. */
  async #lookAtNewest(asked: Set<string>, manner: Manner): Promise<unknown> {
    const { projectId, target } = this.#settings;
    const givenIds = 'ids' in target;
    let read = 0;
    try {
      for await (const page of this.#api.operations(projectId, newest, manner)) {
        this.#heardOf(projectId);
        read += page.length;
        for (const operation of page) {
          if (asked.delete(operation.id) || (!givenIds && this.#roster.takesUp(operation, this.#limit.clock.date())))
            this.#see(operation);
        }
        if (givenIds && asked.size === 0) break;
      }
      this.#heardOf(projectId);
      this.#roster.listWasRead(read < newest);
      this.#listIsRead = true;
      return undefined;
    } catch (error) {
      // Where the list cannot be had, a request for each would not be what helps the service.
      asked.clear();
      return this.#bear(projectId, `Project ${plain(projectId, 80)}`, this.#answered, manner, error);
    }
  }

  async #lookAt(id: string, manner: Manner): Promise<unknown> {
    try {
      this.#see(await this.#api.operation(this.#settings.projectId, id, manner));
      return undefined;
    } catch (error) {
      return this.#bear(id, `Operation ${plain(id, 80)}`, this.#roster.get(id) !== undefined, manner, error);
    }
  }

  #see(operation: Operation): void {
    const from = this.#roster.get(operation.id)?.status;
    this.#roster.see(operation);
    if (from !== operation.status) this.#narrator.change(operation, from);
    this.#heardOf(operation.id);
  }

  /** Of an operation, or of the project whose list was asked for. */
  #heardOf(id: string): void {
    this.#answered = true;
    this.#missing.delete(id);
    this.#troubles.delete(retried);
    this.#troubles.delete(id);
    if (this.#troubles.size === 0) this.#narrator.answered();
  }

  /**
   * What cannot be seen for now is looked at again with the next look. Answers what ends the wait when all else has been
   * looked at; throws what ends it at once: a refusal, a call for patience, a cancel, the end of the time.
   */
  #bear(id: string, what: string, wasSeen: boolean, { retry }: Manner, error: unknown): unknown {
    if (!(error instanceof ApiError)) throw error;
    this.#troubles.set(id, error);
    if (error.asksForPatience) throw error;
    if (error.status === 404) return this.#bearNotFound(id, what, wasSeen, retry !== this.#whileWaiting, error);
    if (error.refused) throw error;
    if (retry !== this.#whileWaiting || !this.#answered) return error;
    this.#narrator.trouble(error);
    this.#leaveAlone = Math.max(this.#leaveAlone, Math.min(error.retryAfter ?? 0, longestPauseAfterFailure));
    return undefined;
  }

  /** A 404 is no verdict at once. */
  #bearNotFound(id: string, what: string, wasSeen: boolean, isLast: boolean, error: ApiError): NotFound | undefined {
    const now = this.#limit.clock.now();
    const since = this.#missing.get(id) ?? now;
    this.#missing.set(id, since);
    const isFinal = this.#limit.endless || now - since >= (wasSeen ? graceForSeen : graceForNew);
    if (isFinal) return new NotFound(what, error);
    if (!isLast) this.#narrator.trouble(error);
    return undefined;
  }

  /** Patience is asked of the whole wait; a failure is tried again at once only until the service has answered. */
  readonly #whileWaiting: RetryRule = (error, times) => {
    if (!error.asksForPatience) return this.#answered ? undefined : this.#untilAnswered(error, times);
    this.#pace.refused(error.retryAfter);
    return this.#pace.next(this.#waited);
  };

  readonly #tellOfRetry = (error: ApiError): void => {
    this.#troubles.set(retried, error);
    this.#narrator.trouble(error);
  };

  get #waited(): number {
    return this.#limit.clock.now() - this.#began;
  }
}
