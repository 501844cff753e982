import type { Operation } from '../../api/records.js';
import type { Log } from '../../api/request.js';
import type { RequestError } from '../../http/errors.js';
import { knownStatuses, operationTexts } from '../../operations/description.js';
import { sanitizeId, sanitizeLine } from '../../text/sanitize-line.js';
import { errorMessage, joinFirst, plural } from '../../text/sentences.js';
import type { Deadline } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import { graceForUnlisted } from './limits.js';
import type { WaitSettings } from './settings.js';
import type { TrackedOperation } from './tracked-operations.js';

const heartbeatIntervalMs = 60_000;
const maxNamed = 3;

/** Logs a line for each change, and a line after each minute without a change. */
export class ProgressLog {
  #warnedOfStatus = false;
  #hasReportedQuiet = false;
  #hasReportedCut = false;
  #lastFailure: string | undefined;
  #cancelHeartbeat = (): void => undefined;

  constructor(
    private readonly log: Log,
    private readonly deadline: Deadline,
    private readonly settings: WaitSettings,
    private readonly pending: () => readonly TrackedOperation[],
  ) {}

  start(): void {
    const pending = this.pending().length;
    const tooShort = `timeout: With “operation-id: all”, the step waits at least ${formatDuration(graceForUnlisted)}, because a list may lack a new operation at first. Set a longer timeout, or 0 to check once.`;
    if (pending === 0 && this.deadline.expiresAt <= graceForUnlisted) this.log.warning(tooShort);
    const what = pending === 0 ? 'all unfinished operations' : plural(pending, 'operation');
    const { projectIds, pollsOnce } = this.settings;
    const [id = ''] = projectIds;
    const where = projectIds.length === 1 ? `project ${sanitizeId(id)}` : `${projectIds.length} projects`;
    if (pollsOnce) this.#write(`Checking ${what} in ${where} once.`);
    else this.#write(`Waiting for ${what} in ${where} (timeout ${formatDuration(this.deadline.expiresAt)}).`);
  }

  statusChanged(operation: Operation, from: string | undefined): void {
    const { name, status, phase, duration } = operationTexts(operation, this.deadline.clock.epochMs());
    const age = duration === '' ? '' : phase === 'pending' ? `, created ${duration} ago` : ` after ${duration}`;
    this.#write(`${name}: ${from === undefined ? '' : `${sanitizeLine(from, 40)} → `}${status}${age}`);
    if (knownStatuses.includes(operation.status) || this.#warnedOfStatus) return;
    this.#warnedOfStatus = true;
    this.log.warning(`${name} has the unknown status “${status}”. This action treats the operation as still running.`);
  }

  /** Logs only once, even if nothing is pending in several projects. */
  nothingPending(): void {
    if (this.#hasReportedQuiet) return;
    this.#hasReportedQuiet = true;
    const project = this.settings.projectIds.length === 1 ? 'The project' : 'At least one project';
    const next = `Reading the list again in ${formatDuration(graceForUnlisted)}, because it may lack a new operation at first.`;
    this.#write(`${project} has no unfinished operation to wait for. ${next}`);
  }

  /** Logs only once, because the lists of several projects can be long. */
  listIsCut(projectId: string, count: number): void {
    if (this.#hasReportedCut) return;
    this.#hasReportedCut = true;
    const project = `project ${sanitizeId(projectId)}${this.settings.projectIds.length === 1 ? '' : ', perhaps of others too'}`;
    this.#write(`Read only the newest ${count.toLocaleString('en')} operations of ${project}. The list has more.`);
  }

  requestFailed(error: RequestError): void {
    // Consecutive failures of one kind are logged once. Messages differ by their paths and request ids, so the statuses are
    // compared. For failures without a status, the network errors are compared.
    const kind = error.status === undefined ? errorMessage(error.cause) : String(error.status);
    if (this.#lastFailure === kind) return;
    this.#lastFailure = kind;
    this.#write(`${error.isThrottled ? 'The service is busy' : 'Poll failed'}, will retry: ${error.message}`);
  }

  serviceRecovered(): void {
    if (this.#lastFailure === undefined) return;
    this.#lastFailure = undefined;
    this.#write('The service is responding again.');
  }

  stop(): void {
    this.#cancelHeartbeat();
  }

  #write(line: string): void {
    this.log.info(`${formatDuration(this.deadline.clock.now()).padStart(7)}  ${line}`);
    this.#cancelHeartbeat();
    const { clock } = this.deadline;
    this.#cancelHeartbeat = clock.schedule(clock.now() + heartbeatIntervalMs, () => this.#write(this.#heartbeat()));
  }

  #heartbeat(): string {
    const pending = this.pending().map(({ id, operation }) => {
      if (operation === undefined) return `[${sanitizeId(id)}]`;
      const { name, status } = operationTexts(operation, this.deadline.clock.epochMs());
      return `${name} (${status})`;
    });
    const what = joinFirst(pending, { max: maxNamed }) || 'the list of operations';
    return `Still waiting for ${what}${this.settings.pollsOnce ? '' : `; ${formatDuration(this.deadline.remaining)} left`}.`;
  }
}
