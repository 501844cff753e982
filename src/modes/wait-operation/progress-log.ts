import type { Operation } from '../../api/records.js';
import type { Log } from '../../api/request.js';
import type { RequestError } from '../../http/errors.js';
import { errorMessage, plural } from '../../text/sentences.js';
import type { Deadline } from '../../time/deadline.js';
import { formatDuration } from '../../time/duration.js';
import { knownStatuses, operationTexts } from '../operations.js';

const heartbeatMs = 60_000;

/** Logs a line for each change, and a line after each minute without a change. `pending`: counts what is waited for. */
export class ProgressLog {
  #hasWarned = false;
  #lastFailure: string | undefined;
  #cancelHeartbeat = (): void => undefined;

  constructor(
    private readonly log: Log,
    private readonly deadline: Deadline,
    private readonly pending: () => number,
  ) {}

  statusChanged(operation: Operation): void {
    const { name, status, phase, duration } = operationTexts(operation, this.deadline.clock.epochMs());
    const age = duration === '' ? '' : phase === 'pending' ? `, created ${duration} ago` : ` after ${duration}`;
    this.write(`${name}: ${status}${age}`);
    if (knownStatuses.includes(operation.status) || this.#hasWarned) return;
    this.#hasWarned = true;
    this.log.warning(`${name} has the unknown status “${status}”. This action treats the operation as still running.`);
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
    this.#cancelHeartbeat = clock.schedule(clock.now() + heartbeatMs, () => {
      const left = formatDuration(this.deadline.remaining);
      this.write(`Still waiting, ${plural(this.pending(), 'operation')} pending; ${left} left.`);
    });
  }

  end(): void {
    this.#cancelHeartbeat();
  }
}
