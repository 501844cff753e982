import type { Log } from '../../api/control-api.js';
import { knownStatuses } from '../../api/operation-status.js';
import type { Operation } from '../../api/records.js';
import type { RequestError } from '../../http/errors.js';
import { errorMessage } from '../../text/sentences.js';
import type { Deadline } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import { operationText } from '../operation-texts.js';

const heartbeatMs = 60_000;

/** Logs a line for each change, and a line after each minute without a change. */
export class ProgressLog {
  #hasWarned = false;
  #lastFailure: string | undefined;
  /** Ends the heartbeat. */
  end = (): void => undefined;

  constructor(
    private readonly log: Log,
    private readonly deadline: Deadline,
  ) {}

  statusChanged(operation: Operation): void {
    const text = operationText(operation, this.deadline.clock.epochMs());
    this.write(text);
    if (knownStatuses.includes(operation.status) || this.#hasWarned) return;
    this.#hasWarned = true;
    this.log.warning(`${text}: this status is unknown. The step treats the operation as still running.`);
  }

  /** Logs failures of one kind once. Their messages differ by paths and request ids. */
  requestFailed(error: RequestError): void {
    const kind = error.status === undefined ? errorMessage(error.cause) : String(error.status);
    if (this.#lastFailure === kind) return;
    this.#lastFailure = kind;
    this.write(`${error.isThrottled ? 'The service is busy' : 'A request failed'}: ${error.message}`);
  }

  write(line: string): void {
    const { clock } = this.deadline;
    this.log.info(`${formatDuration(clock.now()).padStart(7)}  ${line}`);
    this.end();
    this.end = clock.schedule(clock.now() + heartbeatMs, () =>
      this.write(`Still waiting; ${formatDuration(this.deadline.remaining)} left.`),
    );
  }
}
