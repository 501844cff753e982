import type { Log } from '../../api/log.js';
import type { Operation } from '../../api/records.js';
import type { RequestError } from '../../http/errors.js';
import {
  knownStatuses,
  operationDuration,
  operationName,
  operationStatus,
  phaseForStatus,
} from '../../operations/description.js';
import { sanitizeId, sanitizeLine } from '../../text/sanitize-line.js';
import { plural } from '../../text/sentences.js';
import type { Deadline } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import type { TrackedOperation } from './tracked-operations.js';

/** Milliseconds. */
const heartbeatInterval = 60_000;
const maxNamed = 3;

/** Logs a line for each change, and otherwise one line a minute as a heartbeat. */
export class ProgressLog {
  readonly #log: Log;
  readonly #deadline: Deadline;
  readonly #pending: () => readonly TrackedOperation[];
  #warnedOfStatus = false;
  #hasReportedEmptyList = false;
  #lastFailure: string | undefined;
  #cancelHeartbeat = (): void => undefined;

  constructor(log: Log, deadline: Deadline, pending: () => readonly TrackedOperation[]) {
    this.#log = log;
    this.#deadline = deadline;
    this.#pending = pending;
  }

  start(projectIds: readonly string[]): void {
    const pending = this.#pending().length;
    const what = pending === 0 ? 'all unfinished operations' : plural(pending, 'operation');
    const [id = ''] = projectIds;
    const where = projectIds.length === 1 ? `project ${sanitizeId(id)}` : `${projectIds.length} projects`;
    if (this.#deadline.isUnbounded) this.#write(`Checking ${what} in ${where} once.`);
    else this.#write(`Waiting for ${what} in ${where} (timeout ${formatDuration(this.#deadline.expiresAt)}).`);
  }

  statusChanged(operation: Operation, from: string | undefined): void {
    const { clock } = this.#deadline;
    const duration = operationDuration(operation, clock.epochMs());
    const isPending = phaseForStatus(operation.status) === 'pending';
    const age = duration === undefined ? '' : isPending ? `, created ${duration} ago` : ` after ${duration}`;
    const change = `${from === undefined ? '' : `${sanitizeLine(from, 40)} → `}${operationStatus(operation)}`;
    this.#write(`${operationName(operation)}: ${change}${age}`);
    if (knownStatuses.includes(operation.status) || this.#warnedOfStatus) return;
    this.#warnedOfStatus = true;
    this.#log.warning(
      `${operationName(operation)} has the unknown status “${operationStatus(operation)}”. This action treats the operation as still running.`,
    );
  }

  /** Logged once, also for several projects. */
  listIsEmpty(): void {
    if (this.#hasReportedEmptyList) return;
    this.#hasReportedEmptyList = true;
    this.#write(
      'No unfinished operation yet. Polling for 5s more, because a new operation may not be listed immediately.',
    );
  }

  requestFailed(error: RequestError): void {
    // Messages contain a request id, which always differs. The status shows whether a failure is the same as before.
    const kind = error.status === undefined ? error.message : String(error.status);
    if (this.#lastFailure === kind) return;
    this.#lastFailure = kind;
    this.#write(
      error.isThrottled
        ? `The service is busy, will retry later: ${error.message}`
        : `Poll failed, will retry: ${error.message}`,
    );
  }

  serviceRecovered(): void {
    if (this.#lastFailure === undefined) return;
    this.#lastFailure = undefined;
    this.#write('The service responds again.');
  }

  stop(): void {
    this.#cancelHeartbeat();
  }

  #write(line: string): void {
    this.#log.info(`${formatDuration(this.#deadline.clock.now()).padStart(7)}  ${line}`);
    this.#restartHeartbeat();
  }

  #restartHeartbeat(): void {
    this.#cancelHeartbeat();
    const { clock } = this.#deadline;
    this.#cancelHeartbeat = clock.schedule(clock.now() + heartbeatInterval, () => this.#write(this.#heartbeat()));
  }

  #heartbeat(): string {
    const pending = this.#pending();
    const named = pending
      .slice(0, maxNamed)
      .map(({ id, operation }) =>
        operation === undefined ? `[${sanitizeId(id)}]` : `${operationName(operation)} (${operationStatus(operation)})`,
      );
    const more = pending.length > named.length ? ` and ${pending.length - named.length} more` : '';
    const what = named.length === 0 ? 'the list of operations' : `${named.join(', ')}${more}`;
    return `Still waiting for ${what}${this.#deadline.isUnbounded ? '' : `; ${formatDuration(this.#deadline.remaining)} left`}.`;
  }
}
