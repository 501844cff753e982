import type { NotShown } from './not-shown.js';
import { badRequest } from './refusal.js';
import type { Dated, Timeline } from './timeline.js';
import { formatTimestamp, type Micros, parseTimestamp } from './timestamp.js';

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
  switch (lastPageCursor) {
    case 'absent':
      return { items, pagination: {} };
    case 'null':
      return { items, pagination: { cursor: null } };
    case 'empty':
      return { items, pagination: { cursor: '' } };
    case 'repeated':
      return { items, pagination: cursorAt(before ?? (newest === undefined ? undefined : newest + 1)) };
  }
}
