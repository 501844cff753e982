import type { ControlApi } from '../api/control-api.js';
import type { Operation } from '../api/records.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { fiveTries, type Manner, once, type RetryRule } from '../http/retry.js';
import { plain } from '../text/plain.js';
import { Cancelled, Limit, TimeUp } from '../time/limit.js';
import type { Collaborators } from './collaborators.js';
import { type Asked, Forbearance, NotFound } from './wait/forbearance.js';
import { Narrator } from './wait/narrator.js';
import { Pace } from './wait/pace.js';
import { Roster, type Watched } from './wait/roster.js';
import type { Target } from './wait/target.js';

/** Where more operations than these are pending, the list is read in place of a request for each, and how much of it. */
const fewEnoughToAskSingly = 2;
const newest = 200;
const lastLookTakes = 1_000;

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
  readonly #forbearance: Forbearance;
  #listIsRead = false;

  constructor(settings: WaitSettings, { api, limit, log, random }: Collaborators) {
    this.#settings = settings;
    this.#api = api;
    this.#limit = limit;
    this.#roster = new Roster(settings.target);
    this.#narrator = new Narrator(log, limit, this.#roster);
    this.#forbearance = new Forbearance(limit, this.#narrator);
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
      await this.#limit.sleep(Math.max(this.#pace.next(this.#waited), this.#forbearance.leaveAlone));
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
    return this.#ended(this.#settled() ?? 'timeout', this.#forbearance.trouble);
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
    this.#forbearance.beginLook();
    const manner: Manner = { limit, retry, tell: (error) => this.#forbearance.hearOfRetry(error) };
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
        this.#forbearance.heardOf(projectId);
        read += page.length;
        for (const operation of page) {
          if (asked.delete(operation.id) || (!givenIds && this.#roster.takesUp(operation, this.#limit.clock.date())))
            this.#see(operation);
        }
        if (givenIds && asked.size === 0) break;
      }
      this.#forbearance.heardOf(projectId);
      this.#roster.listWasRead(read < newest);
      this.#listIsRead = true;
      return undefined;
    } catch (error) {
      // Where the list cannot be had, a request for each would not be what helps the service.
      asked.clear();
      const wasSeen = this.#forbearance.isAnswered;
      return this.#bear({ id: projectId, name: `Project ${plain(projectId, 80)}`, wasSeen }, error, manner);
    }
  }

  async #lookAt(id: string, manner: Manner): Promise<unknown> {
    try {
      this.#see(await this.#api.operation(this.#settings.projectId, id, manner));
      return undefined;
    } catch (error) {
      const wasSeen = this.#roster.get(id) !== undefined;
      return this.#bear({ id, name: `Operation ${plain(id, 80)}`, wasSeen }, error, manner);
    }
  }

  #see(operation: Operation): void {
    const from = this.#roster.get(operation.id)?.status;
    this.#roster.see(operation);
    if (from !== operation.status) this.#narrator.change(operation, from);
    this.#forbearance.heardOf(operation.id);
  }

  #bear(asked: Asked, error: unknown, { retry }: Manner): unknown {
    return this.#forbearance.bear(asked, error, retry !== this.#whileWaiting);
  }

  /** Patience is asked of the whole wait; a failure is tried again at once only until the service has answered. */
  readonly #whileWaiting: RetryRule = (error, times) => {
    if (!error.asksForPatience) return this.#forbearance.isAnswered ? undefined : this.#untilAnswered(error, times);
    this.#pace.refused(error.retryAfter);
    return this.#pace.next(this.#waited);
  };

  get #waited(): number {
    return this.#limit.clock.now() - this.#began;
  }
}
