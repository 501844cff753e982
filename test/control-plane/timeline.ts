import type { Micros } from './timestamp.js';

export interface Dated {
  readonly createdMicros: Micros;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Older ones are left. */
  readonly more: boolean;
}

/**
 * Records by their moment of creation. No two bear the same moment: so a timestamp alone says where a page ended, and what
 * arrives while someone turns pages moves nothing.
 */
export class Timeline<T extends Dated> {
  /** Oldest first: new ones are mostly the newest, and pushing is cheap. */
  readonly #items: T[] = [];

  /** The first moment from the wanted one on that no record bears. */
  freeMoment(wanted: Micros): Micros {
    let moment = wanted;
    for (let index = this.#indexOf(wanted); this.#items[index]?.createdMicros === moment; index++) moment++;
    return moment;
  }

  insert(item: T): void {
    this.#items.splice(this.#indexOf(item.createdMicros), 0, item);
  }

  remove(item: T): void {
    const index = this.#items.indexOf(item);
    if (index >= 0) this.#items.splice(index, 1);
  }

  /** Newest first. */
  page(before: Micros | undefined, size: number, shows: (item: T) => boolean = () => true): Page<T> {
    const items: T[] = [];
    let index = before === undefined ? this.#items.length : this.#indexOf(before);
    while (index-- > 0) {
      const item = this.#items[index];
      if (item === undefined || !shows(item)) continue;
      if (items.length === size) return { items, more: true };
      items.push(item);
    }
    return { items, more: false };
  }

  /** Of the first record that is not older than the moment. */
  #indexOf(moment: Micros): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle]?.createdMicros ?? Number.POSITIVE_INFINITY) < moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
