import type { Log } from '../../api/log.js';
import type { Operation } from '../../api/records.js';
import type { ApiError } from '../../http/errors.js';
import { plain } from '../../text/plain.js';
import { formatDuration } from '../../time/duration.js';
import type { Limit } from '../../time/limit.js';
import { lengthInWords, nameOf, statusOf } from '../operations/describe.js';
import { isKnown } from '../operations/status.js';
import type { Watched } from './roster.js';

/** Milliseconds. */
const silence = 60_000;
const namedAtOnce = 3;

/** Logs a line for each change, and otherwise one line a minute as a heartbeat. */
export class Narrator {
  readonly #log: Log;
  readonly #limit: Limit;
  readonly #pending: () => readonly Watched[];
  #warnedOfStatus = false;
  #saidNothingYet = false;
  #trouble: string | undefined;
  #forget = (): void => undefined;

  constructor(log: Log, limit: Limit, pending: () => readonly Watched[]) {
    this.#log = log;
    this.#limit = limit;
    this.#pending = pending;
  }

  begin(projectIds: readonly string[]): void {
    const pending = this.#pending().length;
    const what = pending === 0 ? 'the unfinished operations' : `${pending} operation${pending === 1 ? '' : 's'}`;
    const [id = ''] = projectIds;
    const where = projectIds.length === 1 ? `project ${plain(id, 80)}` : `${projectIds.length} projects`;
    if (this.#limit.endless) this.#say(`Checking ${what} of ${where} once.`);
    else
      this.#say(`Waiting for ${what} of ${where}, with a deadline ${formatDuration(this.#limit.at)} after the start.`);
  }

  change(operation: Operation, from: string | undefined): void {
    const { clock } = this.#limit;
    const length = lengthInWords(operation, clock.date());
    this.#say(
      `${nameOf(operation)}: ${from === undefined ? '' : `${plain(from, 40)} → `}${statusOf(operation)}${length === undefined ? '' : `, ${length} old`}`,
    );
    if (isKnown(operation.status) || this.#warnedOfStatus) return;
    this.#warnedOfStatus = true;
    this.#log.warning(
      `${nameOf(operation)} has the status “${statusOf(operation)}”, which this action does not know. It waits on, as if the operation were still running.`,
    );
  }

  /** Logged once, also for several projects. */
  nothingYet(): void {
    if (this.#saidNothingYet) return;
    this.#saidNothingYet = true;
    this.#say('No unfinished operation yet. Polling for 5s more, because a new operation may not be listed at once.');
  }

  trouble(error: ApiError): void {
    // Messages contain a request id, which always differs. The status shows whether a failure is the same as before.
    const kind = error.status === undefined ? error.message : String(error.status);
    if (this.#trouble === kind) return;
    this.#trouble = kind;
    this.#say(
      error.asksForPatience
        ? `The service asks for patience: ${error.message}`
        : `A look failed, another follows: ${error.message}`,
    );
  }

  answered(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#say('The service answers again.');
  }

  silence(): void {
    this.#forget();
  }

  #say(line: string): void {
    this.#log.info(`${formatDuration(this.#limit.clock.now()).padStart(7)}  ${line}`);
    this.#listenToSilence();
  }

  #listenToSilence(): void {
    this.#forget();
    const { clock } = this.#limit;
    this.#forget = clock.at(clock.now() + silence, () => this.#say(this.#signOfLife()));
  }

  #signOfLife(): string {
    const pending = this.#pending();
    const named = pending
      .slice(0, namedAtOnce)
      .map(({ id, operation }) =>
        operation === undefined ? `[${plain(id, 80)}]` : `${nameOf(operation)} ${statusOf(operation)}`,
      );
    const more = pending.length > named.length ? ` and ${pending.length - named.length} more` : '';
    const what = named.length === 0 ? 'the first response' : `${named.join(', ')}${more}`;
    return `Still waiting for ${what}${this.#limit.endless ? '' : `; ${formatDuration(this.#limit.left)} left`}.`;
  }
}
