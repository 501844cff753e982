import type { Operation } from '../../api/records.js';
import type { RequestPolicy } from '../../http/retry.js';
import type { Idleness } from './idleness.js';
import { maxPages, maxRecords, maxSingle } from './limits.js';
import type { PollContext } from './poll-failures.js';

/** After this many milliseconds without a page, the operations of a slow list are requested singly. */
const hangsAfter = 1_000;

/** Reads the list of operations of one project, one poll after the other. */
export class ListReader {
  /** The start of the read, or the arrival of its latest page. Undefined between two reads. */
  #activeAt: number | undefined;

  /** `idleness`: set in a wait for `all`. */
  constructor(
    private readonly projectId: string,
    private readonly idleness: Idleness | undefined,
    private readonly context: PollContext,
  ) {}

  get isReading(): boolean {
    return this.#activeAt !== undefined;
  }

  get isHanging(): boolean {
    return this.#activeAt !== undefined && this.#now - this.#activeAt >= hangsAfter;
  }

  /** Calls `update` for each listed operation that is part of the wait. Removes every listed id from `unseen`. */
  async read(unseen: Set<string>, policy: RequestPolicy, update: (operation: Operation) => void): Promise<void> {
    const { api, failures, onChange } = this.context;
    const id = this.projectId;
    const idleness = this.idleness;
    let pages = 0;
    let records = 0;
    let goesOn: boolean;
    this.#activeAt = this.#now;
    try {
      do {
        const place = idleness?.startRead();
        goesOn = place?.cursor !== undefined;
        for await (const page of api.operations(id, policy, place)) {
          failures.recordSuccess(id, id);
          this.#activeAt = this.#now;
          // To `takePage`, an operation that has ended by now is history.
          for (const operation of page.records) if (unseen.delete(operation.id)) update(operation);
          const isComplete = idleness?.takePage(page, update) ?? true;
          // A page can show the end of an operation and the beginning of another. So it counts as a whole.
          onChange();
          pages++;
          records += page.records.length;
          const hasAll = unseen.size <= maxSingle || pages >= maxPages;
          // The first read ends only when it is complete, because with `since` it may take more.
          if (isComplete ? hasAll : records >= maxRecords && !idleness?.isFirstRead) return;
        }
        // A read that went on from the poll before has not shown the top of the list, where the others may stand.
      } while (goesOn);
    } finally {
      this.#activeAt = undefined;
    }
  }

  get #now(): number {
    return this.context.deadline.clock.now();
  }
}
