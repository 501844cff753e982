import type { NotShown } from './not-shown.js';
import { badRequest } from './refusal.js';
import { formatTimestamp, type Micros, parseTimestamp } from './timestamp.js';

export interface Dated {
  readonly createdMicros: Micros;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** There are older ones. */
  readonly more: boolean;
}

/**
 * Records by their moment of creation. Each has a moment of its own: so a timestamp marks the end of a page, and new records
 * do not move those of the next page.
 */
export class Timeline<T extends Dated> {
  /** Oldest first, because most new records are the newest, and a push is cheap. */
  readonly #items: T[] = [];

  /** The first moment from the given one on without a record. */
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

  /** The index of the first record that is not older. */
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

export interface PageRequest {
  readonly size: number;
  readonly before: Micros | undefined;
}

export interface CursoredPage<T> {
  readonly items: readonly T[];
  readonly pagination: { readonly cursor?: string | null };
}

export function readPageRequest(query: URLSearchParams, defaultSize: number, rules: NotShown): PageRequest {
  return { size: readLimit(query.get('limit'), defaultSize, rules), before: readCursor(query.get('cursor')) };
}

function readLimit(text: string | null, defaultSize: number, { maximumPageSize, overMaximum }: NotShown): number {
  if (text === null) return Math.min(defaultSize, maximumPageSize);
  if (!/^\d+$/.test(text) || Number(text) === 0) throw badRequest('limit must be an integer above 0.');
  if (Number(text) > maximumPageSize && overMaximum === 'refuse') {
    throw badRequest(`limit must be at most ${maximumPageSize}.`);
  }
  return Math.min(Number(text), maximumPageSize);
}

function readCursor(text: string | null): Micros | undefined {
  if (text === null) return undefined;
  const moment = parseTimestamp(text);
  if (moment === undefined) throw badRequest('cursor must be the pagination.cursor of a previous page, URL-encoded.');
  return moment;
}

export function turnPage<T extends Dated>(
  timeline: Timeline<T>,
  { size, before }: PageRequest,
  shows: (item: T) => boolean,
  { lastPageCursor, cursorZone }: NotShown,
): CursoredPage<T> {
  const { items, more } = timeline.page(before, size, shows);
  const cursorAt = (moment: Micros | undefined) =>
    moment === undefined ? {} : { cursor: formatTimestamp(moment, cursorZone) };
  const [newest, oldest] = [items[0]?.createdMicros, items.at(-1)?.createdMicros];
  if (more || lastPageCursor === 'given') return { items, pagination: cursorAt(oldest) };
  const lastPage = {
    absent: {},
    null: { cursor: null },
    empty: { cursor: '' },
    repeated: cursorAt(before ?? (newest === undefined ? undefined : newest + 1)),
  };
  return { items, pagination: lastPage[lastPageCursor] };
}
