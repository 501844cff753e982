import pLimit from 'p-limit';
import type { Deadline } from '../../time/deadline.js';
import { maxConcurrentRequests } from './limits.js';
import type { Pace } from './pace.js';
import type { PollKind } from './poll-failures.js';
import type { ProjectPoller } from './project-poller.js';

/** If no request ends for this long, and for twice the usual time, the next poll starts. It does not wait for open requests. */
const minSilence = 500;

/** The final poll may take this many times as long as a usual poll. */
const safetyFactor = 1.25;

/** The usual time of a response is the average of about this many latest responses. */
const averagedResponses = 20;

/** Runs one poll after the other, and measures how long the requests take. */
export class Polls {
  /** Resolves when the requests of all polls so far have ended. */
  openRequests: Promise<unknown> = Promise.resolve();
  readonly #queue = pLimit(maxConcurrentRequests);
  /** Silent projects wait here first. So they never take the last place in `#queue` from the other projects. */
  readonly #queueOfSilent = pLimit(maxConcurrentRequests - 1);
  /** The projects whose latest request got no usable response. */
  readonly #silent = new Set<ProjectPoller>();
  #answered = 0;
  /** How long a response usually takes. */
  #usualMs = 0;
  /** The time of the latest response or failure. */
  #changedAt = 0;
  #requestsOfFirstPoll: number | undefined;
  #regularPollAt = 0;

  constructor(
    private readonly projects: readonly ProjectPoller[],
    private readonly deadline: Deadline,
    private readonly pace: Pace,
  ) {}

  /** Polls, and then pauses until the next poll is due. */
  async pollAndPause(): Promise<void> {
    const kind = this.#now >= this.#regularPollAt ? 'regular' : 'early';
    const answered = this.#answered;
    await this.#poll(kind);
    this.#requestsOfFirstPoll ??= this.#answered;
    if (this.#answered > answered) this.pace.recordPoll();
    if (kind === 'regular') this.#regularPollAt = this.#now + Math.max(this.pace.next(), this.pace.heldFor);
    await this.deadline.sleepUntil(this.#nextPollAt);
  }

  /** Polls all projects once, without a pause. */
  async pollOnce(deadline = this.deadline): Promise<void> {
    await deadline.race(() => this.start('final', deadline));
  }

  /** The latest start of a poll that reads everything and ends by `time`. `least`: its least number of requests. */
  startToEndBy(time: number, least: number): number {
    const groups = Math.ceil(Math.max(least, this.#requestsOfFirstPoll ?? 0) / maxConcurrentRequests);
    return Math.max(time - safetyFactor * groups * this.#usualMs, this.#now + this.pace.heldFor);
  }

  start(kind: PollKind, deadline = this.deadline): Promise<unknown> {
    const polls = this.projects.flatMap((project) => {
      const queue = <T>(attempt: () => Promise<T>) => {
        const queued = () => this.#queue(() => this.#send(kind, project, attempt));
        return this.#silent.has(project) ? this.#queueOfSilent(queued) : queued();
      };
      return project.poll({ kind, deadline, queue });
    });
    const started = Promise.all(polls);
    this.openRequests = Promise.all([this.openRequests, started]);
    return started;
  }

  async #send<T>(kind: PollKind, project: ProjectPoller, attempt: () => Promise<T>): Promise<T> {
    if (kind !== 'final') await this.pace.hold();
    const began = this.#now;
    try {
      const result = await attempt();
      this.#silent.delete(project);
      this.#answered++;
      this.#usualMs += (this.#now - began - this.#usualMs) / Math.min(this.#answered, averagedResponses);
      return result;
    } catch (error) {
      // A request that was not sent before the deadline says nothing about its project.
      if (this.#now > began) this.#silent.add(project);
      throw error;
    } finally {
      this.#changedAt = this.#now;
    }
  }

  /** Ends when all requests have ended. Ends earlier if the open requests hang while another request is due. */
  async #poll(kind: PollKind): Promise<void> {
    const began = this.#now;
    const ended = this.start(kind).then(() => true);
    for (;;) {
      const lastActive = Math.max(began, this.#changedAt, this.#now + this.pace.heldFor);
      const patience = Math.max(minSilence, 2 * this.#usualMs);
      const untilSilent = lastActive + patience - this.#now;
      if (untilSilent <= 0 && this.projects.some(({ hasWork }) => hasWork)) return;
      if (await this.deadline.raceFor(untilSilent > 0 ? untilSilent : patience, () => ended)) return;
    }
  }

  /** A list that is due gets an early poll. While the service throttles, it waits for the next regular poll. */
  get #nextPollAt(): number {
    const dueAt = Math.min(...this.projects.map((project) => project.dueAt));
    const earlyPollAt = this.pace.isSlowed ? Math.max(dueAt, this.#regularPollAt) : dueAt;
    const hasOnlyEarly = dueAt < Number.POSITIVE_INFINITY && !this.projects.some(({ isBusy }) => isBusy);
    return hasOnlyEarly ? earlyPollAt : Math.min(earlyPollAt, this.#regularPollAt);
  }

  get #now(): number {
    return this.deadline.clock.now();
  }
}
