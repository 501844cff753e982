import type { ControlApi } from '../api/control-api.js';
import { ApiError, AskedToWaitTooLong } from '../api/errors.js';
import type { Log } from '../api/log.js';
import type { Operation } from '../api/records.js';
import { fiveTries, type Manner, once, type RetryRule } from '../api/retry.js';
import { plain } from '../text/plain.js';
import { Cancelled, Limit, TimeUp } from '../time/limit.js';
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

export interface WaitSettings {
  readonly projectId: string;
  readonly target: Target;
  /** Milliseconds between looks; `auto`: as fits the length of the wait. */
  readonly pollInterval: number | 'auto';
  readonly failFast: boolean;
}

export interface Collaborators {
  readonly api: ControlApi;
  /** Without an end: look once, and repeat nothing. */
  readonly limit: Limit;
  readonly log: Log;
  readonly random: () => number;
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
  /** What the last exchange failed of. */
  #trouble: ApiError | undefined;

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
      await this.#look({ limit: this.#limit, retry: this.#whileWaiting });
      const verdict = this.#settled();
      if (verdict !== undefined) return verdict;
      await this.#limit.sleep(this.#pace.next(this.#waited));
    }
  }

  async #lookOnce(): Promise<Verdict> {
    await this.#look({ limit: this.#limit, retry: once });
    return this.#settled() ?? 'timeout';
  }

  /** At the deadline, so that what finished a moment ago is not called late. */
  async #lookForTheLastTime(): Promise<Waited> {
    const { clock, cancel } = this.#limit;
    try {
      await this.#look({ limit: new Limit(clock, clock.now() + lastLookTakes, cancel), retry: once });
    } catch (error) {
      if (error instanceof Cancelled) return this.#ended('cancelled');
      if (error instanceof ApiError) this.#trouble = error;
    }
    return this.#ended(this.#settled() ?? 'timeout', this.#trouble);
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

  async #look(manner: Manner): Promise<void> {
    this.#listIsRead = false;
    const asked = new Set(this.#roster.pending);
    if ('all' in this.#settings.target || asked.size > fewEnoughToAskSingly) await this.#lookAtNewest(asked, manner);
    for (const id of asked) {
      if (this.#settings.failFast && this.#roster.failed.size > 0) break;
      await this.#lookAt(id, manner);
    }
    this.#pace.accepted();
  }

  /** Takes out of `asked` what the newest operations show. */
  async #lookAtNewest(asked: Set<string>, manner: Manner): Promise<void> {
    const { projectId, target } = this.#settings;
    const givenIds = 'ids' in target;
    let read = 0;
    try {
      for await (const page of this.#api.operations(projectId, newest, manner)) {
        this.#hasAnswered(projectId);
        read += page.length;
        for (const operation of page) {
          if (asked.delete(operation.id) || (!givenIds && this.#roster.isNews(operation, this.#limit.clock.date())))
            this.#see(operation);
        }
        if (givenIds && asked.size === 0) break;
      }
      this.#hasAnswered(projectId);
      this.#roster.listWasRead(read < newest);
      this.#listIsRead = true;
    } catch (error) {
      this.#isMissing(projectId, `Project ${plain(projectId, 80)}`, this.#answered, error);
      asked.clear();
    }
  }

  async #lookAt(id: string, manner: Manner): Promise<void> {
    try {
      const operation = await this.#api.operation(this.#settings.projectId, id, manner);
      this.#hasAnswered(id);
      this.#see(operation);
    } catch (error) {
      this.#isMissing(id, `Operation ${plain(id, 80)}`, this.#roster.get(id) !== undefined, error);
    }
  }

  #see(operation: Operation): void {
    const from = this.#roster.get(operation.id)?.status;
    this.#roster.see(operation);
    if (from !== operation.status) this.#narrator.change(operation, from);
  }

  #hasAnswered(what: string): void {
    this.#answered = true;
    this.#missing.delete(what);
    this.#trouble = undefined;
    this.#narrator.answered();
  }

  #meets(trouble: ApiError): void {
    this.#trouble = trouble;
    this.#narrator.trouble(trouble);
  }

  /** A 404 is no verdict at once; any other error goes on its way. */
  #isMissing(id: string, what: string, wasSeen: boolean, error: unknown): void {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const now = this.#limit.clock.now();
    const since = this.#missing.get(id) ?? now;
    this.#missing.set(id, since);
    if (this.#limit.endless || now - since >= (wasSeen ? graceForSeen : graceForNew)) throw new NotFound(what, error);
    this.#meets(error);
  }

  readonly #whileWaiting: RetryRule = (error, times) => {
    const pause = this.#pauseAfter(error, times);
    if (pause !== undefined) this.#meets(error);
    return pause;
  };

  #pauseAfter(error: ApiError, times: number): number | undefined {
    if (error.asksForPatience) {
      this.#pace.refused(error.retryAfter);
      return this.#pace.next(this.#waited);
    }
    if (error.refused) return undefined;
    if (!this.#answered) return this.#untilAnswered(error, times);
    return Math.max(this.#pace.next(this.#waited), Math.min(error.retryAfter ?? 0, longestPauseAfterFailure));
  }

  get #waited(): number {
    return this.#limit.clock.now() - this.#began;
  }
}
