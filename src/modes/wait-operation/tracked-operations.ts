import { isFailed, isPending } from '../../api/operation-status.js';
import type { Operation } from '../../api/records.js';
import { endOf, judge, type ListRead } from './judge.js';
import { Quiet } from './quiet.js';
import type { WaitSettings } from './settings.js';

/** A failure that only its time excludes is told if it is not older than so many milliseconds. */
export const recentAge = 600_000;

/** What counts in one project, each with its latest status: the given ids, or what `judge` says. */
export class TrackedOperations {
  /** As last seen; after its end, as it ended. The record of an id is empty until an answer shows it. */
  readonly all = new Map<string, Operation>();
  /** The ids to ask for: those not seen to end; with `timeout: 0`, those not seen. */
  readonly wanted = new Set<string>();
  hasFailed = false;
  readonly recentFailures = new Map<string, Operation>();
  /** Undefined until it is whole. */
  firstRead: ListRead | undefined;
  quiet = Quiet.none;

  /** `start`: returns the start of the step in milliseconds since 1970, on the service's clock. */
  constructor(
    projectId: string,
    private readonly settings: Pick<WaitSettings, 'target' | 'pollsOnce'>,
    readonly start: () => number,
  ) {
    const { target } = settings;
    if ('all' in target) return;
    const given = target.ids.get(projectId) ?? [];
    for (const id of given.map((one) => (typeof one === 'string' ? one : one.id))) {
      this.all.set(id, { id, status: 'no status yet', record: {} });
      this.wanted.add(id);
    }
    for (const one of given) if (typeof one !== 'string') this.take(one);
  }

  /** Takes an answer. Returns true if the status of an operation that counts has changed. */
  take(operation: Operation): boolean {
    const { id, status, record } = operation;
    const { target, pollsOnce } = this.settings;
    if ('all' in target) target.all.note(record);
    const known = this.all.get(id);
    if (known === undefined && !this.#counts(operation)) return false;
    if (known === undefined || isPending(operation)) this.quiet = this.quiet.disturbed();
    // A slow response or an older replica may show an operation running again. An end that was seen stays.
    if (known !== undefined && !isPending(known)) return false;
    this.all.set(id, operation);
    if (isPending(operation) && !pollsOnce) this.wanted.add(id);
    else this.wanted.delete(id);
    this.hasFailed ||= isFailed(operation);
    return known?.status !== status;
  }

  #counts(operation: Operation): boolean {
    const { target } = this.settings;
    if ('ids' in target) return false;
    const start = this.start();
    const judgement = judge(operation, this.firstRead, start - target.since, target.all);
    if (judgement === 'history' && isFailed(operation) && endOf(operation) >= start - recentAge)
      this.recentFailures.set(operation.id, operation);
    return judgement === 'counts';
  }

  endRead(read: ListRead, endedAt: number): void {
    this.firstRead ??= read;
    this.quiet = this.quiet.afterRead({ beganAt: read.beganAt, endedAt, allEnded: this.wanted.size === 0 });
  }
}
