import { plural } from '../../text/sentences.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators } from '../mode.js';
import { conclude, type WaitResult } from './conclude.js';
import { ProgressLog } from './progress-log.js';
import { Project, type WaitContext } from './project.js';
import type { WaitSettings } from './settings.js';

// Times are in milliseconds.

/** A step ends at most 2 s after its deadline. Of these, the last poll gets so much. */
const timeOfLastPoll = 1_500;
/** With `timeout: 0`, requests that fail are repeated for so long. */
const timeOfOnlyPoll = 60_000;
/** A pause is this share of the time waited, within bounds. */
const autoPause = { share: 0.25, leastMs: 500, mostMs: 3_300 };

/** Polls each project until it is done or the deadline expires. Only `conclude` says how the wait ended. */
export async function waitOperation(settings: WaitSettings, collaborators: Collaborators): Promise<WaitResult> {
  const { api, rate, log, deadline: ofStep } = collaborators;
  const { projectIds, target, pollsOnce, failFast } = settings;
  const { clock, cancellation } = ofStep;
  const beganAt = clock.now();
  const expiresAt = pollsOnce ? beganAt + timeOfOnlyPoll : ofStep.expiresAt;
  /** Ends all loops and requests. */
  const stop = new Cancellation();
  const deadline = new Deadline(clock, expiresAt, stop);
  const lastDeadline = new Deadline(clock, expiresAt + timeOfLastPoll, stop);
  const countPending = () => projects.reduce((sum, { operations }) => sum + operations.pending.size, 0);
  const progress = new ProgressLog(log, deadline, countPending);
  const onFailure = () => {
    if (failFast) stop.cancel();
  };
  const context: WaitContext = { ...settings, api, rate, progress, deadline, lastDeadline, onFailure };
  const projects = projectIds.map((id) => new Project(id, context));
  let isLast = false;

  function pauseUntil({ operations }: Project): number {
    const now = clock.now();
    const { restsUntil } = operations.quiet;
    if (restsUntil > now) return restsUntil;
    const { share, leastMs, mostMs } = autoPause;
    const auto = Math.min(mostMs, Math.max(leastMs, share * (now - beganAt)));
    return now + (settings.pollInterval === 'auto' ? auto : settings.pollInterval);
  }

  async function pollUntilDone(project: Project): Promise<void> {
    const untilDone = new Deadline(clock, expiresAt, project.end);
    while (!project.isDone) {
      await untilDone.race(() => project.poll(false));
      await untilDone.sleepUntil(pauseUntil(project));
    }
  }

  async function pollLast(project: Project): Promise<void> {
    if (pollsOnce) return project.endOnlyPoll();
    if (!isLast) rate.allowBurst();
    isLast = true;
    await new Deadline(clock, lastDeadline.expiresAt, project.end).race(() => project.poll(true));
  }

  const follow = (project: Project) =>
    pollUntilDone(project)
      .catch((error) => (error instanceof DeadlineExceeded ? pollLast(project) : Promise.reject(error)))
      .catch((error) => {
        if (!(error instanceof DeadlineExceeded || error instanceof CancelledError)) throw error;
      });

  stop.onCancel(() => {
    for (const { end } of projects) end.cancel();
  });
  cancellation.onCancel(() => stop.cancel());
  try {
    const all = `all operations of ${plural(projects.length, 'project')}`;
    const what = 'ids' in target ? plural(countPending(), 'operation') : all;
    progress.write(`Waiting for ${what} (timeout ${pollsOnce ? 0 : formatDuration(expiresAt)}).`);
    // The response of send-request can show a failed operation before any poll.
    if (projects.some(({ operations }) => operations.hasFailed)) onFailure();
    if (!cancellation.isCancelled) await Promise.all(projects.map(follow));
    // A signal that arrived during synchronous work is noticed here.
    await clock.turn();
    return conclude(projects, settings, { deadline, isCancelled: cancellation.isCancelled });
  } finally {
    progress.end();
    stop.cancel();
  }
}
