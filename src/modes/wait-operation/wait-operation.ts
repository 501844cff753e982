import { plural } from '../../text/sentences.js';
import { Cancellation, Deadline } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import { conclude, type WaitResult } from './conclude.js';
import { ProgressLog } from './progress-log.js';
import { ignoreEnd, Project } from './project.js';
import type { WaitSettings } from './settings.js';

/** A step ends at most 2 s after its deadline. Of these, the last poll gets so many milliseconds. */
const timeOfLastPoll = 1_500;
/** With `timeout: 0`, requests that fail are repeated for so long. */
const timeOfOnlyPoll = 60_000;
/** A pause is this share of the time waited, within bounds. */
const autoPause = { share: 0.25, leastMs: 500, mostMs: 3_300 };

/** Polls each project until it is done or the deadline expires. Only `conclude` says how the wait ended. */
export async function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  const { rate, log } = collaborators;
  const { projectIds, pollsOnce, failFast, pollInterval } = settings;
  const { clock, cancellation, expiresAt: endOfStep } = collaborators.deadline;
  const beganAt = clock.now();
  const expiresAt = pollsOnce ? beganAt + timeOfOnlyPoll : endOfStep;
  /** Ends all loops and requests. */
  const stop = new Cancellation();
  const deadline = new Deadline(clock, expiresAt, stop);
  const lastDeadline = new Deadline(clock, expiresAt + timeOfLastPoll, stop);
  const progress = new ProgressLog(log, deadline);
  const context = { ...collaborators, ...settings, progress, deadline, lastDeadline };
  const projects = projectIds.map((id) => new Project(id, context));
  let isLast = false;

  function pauseUntil({ operations }: Project): number {
    const now = clock.now();
    const { restsUntil } = operations.quiet;
    if (restsUntil > now) return restsUntil;
    const auto = Math.min(autoPause.mostMs, Math.max(autoPause.leastMs, autoPause.share * (now - beganAt)));
    return now + (pollInterval === 'auto' ? auto : pollInterval);
  }

  async function pollUntilDone(project: Project): Promise<void> {
    const untilDone = new Deadline(clock, expiresAt, project.end);
    while (!project.isDone) {
      await untilDone.race(() => project.poll());
      await untilDone.sleepUntil(pauseUntil(project));
    }
  }

  async function follow(project: Project): Promise<void> {
    await pollUntilDone(project).catch(ignoreEnd);
    if (pollsOnce || project.isDone || stop.isCancelled) return;
    if (!isLast) rate.allowBurst();
    isLast = true;
    await new Deadline(clock, lastDeadline.expiresAt, project.end).race(() => project.poll()).catch(ignoreEnd);
  }

  cancellation.onCancel(() => stop.cancel());
  try {
    const timeout = pollsOnce ? 0 : formatDuration(expiresAt);
    progress.write(`Waiting for operations of ${plural(projects.length, 'project')} (timeout ${timeout}).`);
    // The response of send-request can show a failed operation before any poll.
    if (failFast && projects.some(({ operations }) => operations.hasFailed)) stop.cancel();
    if (!cancellation.isCancelled) await Promise.all(projects.map(follow));
    // A signal that arrived during synchronous work is noticed here.
    await clock.turn();
    return conclude(projects, settings, deadline, cancellation.isCancelled);
  } finally {
    progress.end();
    stop.cancel();
  }
}
