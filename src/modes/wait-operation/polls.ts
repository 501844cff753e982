import pLimit from 'p-limit';
import { type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { maxConcurrentRequests } from './limits.js';
import type { Pace } from './pace.js';
import type { PollKind } from './poll.js';
import type { ProjectPoller } from './project-poller.js';

/** After this many milliseconds without a response, the next poll starts even if requests are still open. */
const hangsAfter = 500;

/** Sends the requests of one poll after the other, until the wait is decided. */
export class Polls {
  /** The number of responses and failures. */
  changes = 0;
  openRequests: Promise<unknown> = Promise.resolve();
  readonly #queue = pLimit(maxConcurrentRequests);
  #regularPollAt = 0;

  constructor(
    private readonly projects: readonly ProjectPoller[],
    private readonly deadline: Deadline,
    private readonly pace: Pace,
    private readonly decided: Promise<'decided'>,
  ) {}

  /** Polls, and then pauses until the next poll is due. */
  async pollAndPause(): Promise<void> {
    if ((await this.#poll(this.#isTimeForRegular ? 'regular' : 'early')) === 'decided') return;
    this.pace.recordPoll();
    if (this.#isTimeForRegular) this.#regularPollAt = this.#now + Math.max(this.pace.next(), this.pace.heldFor);
    await this.#firstOf(this.deadline.until(this.#nextPollAt), []);
  }

  /** Polls all projects once, without a pause. */
  async pollOnce(kind: 'final' | 'only', deadline: Deadline): Promise<void> {
    const requests = this.start(kind, deadline);
    await deadline.race(() => Promise.race([this.decided, requests]));
  }

  start(kind: PollKind, deadline = this.deadline): Promise<unknown> {
    const isPaced = kind === 'regular' || kind === 'early';
    const queue = <T>(attempt: () => Promise<T>) =>
      this.#queue(async () => {
        if (isPaced) await this.pace.hold();
        return attempt();
      });
    const started = Promise.all(this.projects.flatMap((project) => project.poll({ kind, deadline, queue })));
    this.openRequests = Promise.all([this.openRequests, started]);
    return started;
  }

  /** Ends when all requests have ended. Ends earlier if the open requests hang while another request is due. */
  async #poll(kind: PollKind): Promise<'decided' | 'done' | 'silent'> {
    const requests = this.start(kind).then(() => 'done' as const);
    for (;;) {
      const before = this.changes;
      const event = await this.#firstOf(this.deadline.within(hangsAfter), [requests]);
      if (event !== 'late') return event;
      const isSilent = this.changes === before && this.pace.heldFor <= 0;
      if (isSilent && this.projects.some(({ hasWork }) => hasWork)) return 'silent';
    }
  }

  /** Waits for the decision, for the work, or until the pause is over. */
  async #firstOf<T>(pause: Deadline, work: readonly Promise<T>[]): Promise<T | 'decided' | 'late'> {
    try {
      return await pause.race(() => Promise.race([this.decided, ...work]));
    } catch (error) {
      if (error instanceof DeadlineExceeded && !this.deadline.isExpired) return 'late';
      throw error;
    }
  }

  /** A project that becomes idle is read once more, apart from the regular polls, unless the service throttles. */
  get #nextPollAt(): number {
    const dueAt = Math.min(...this.projects.map((project) => project.dueAt));
    const earlyPollAt = this.pace.isSlowed ? Math.max(dueAt, this.#regularPollAt) : dueAt;
    const hasOnlyEarly = dueAt < Number.POSITIVE_INFINITY && !this.projects.some(({ isBusy }) => isBusy);
    return hasOnlyEarly ? earlyPollAt : Math.min(earlyPollAt, this.#regularPollAt);
  }

  get #isTimeForRegular(): boolean {
    return this.#now >= this.#regularPollAt;
  }

  get #now(): number {
    return this.deadline.clock.now();
  }
}
