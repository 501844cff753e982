import type { HttpHeaders } from './exchange.js';

/** A longer `Retry-After` counts as 366 days. */
const maxMs = 366 * 86_400_000;

/** Returns `Retry-After` in milliseconds. A date is relative to the `Date` header, or to `nowMs` if there is none. */
export function parseRetryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const header = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(header)) return Math.min(Number(header) * 1_000, maxMs);
  const until = parseHttpDate(header);
  if (until === undefined) return undefined;
  return Math.min(Math.max(0, until - (parseDateHeader(headers) ?? nowMs)), maxMs);
}

/** The time on the service's clock, in milliseconds since 1970. */
export function parseDateHeader(headers: HttpHeaders): number | undefined {
  return parseHttpDate(headers['date'] ?? '');
}

/** Date.parse alone would read a bare number as a year. */
function parseHttpDate(text: string): number | undefined {
  const epochMs = /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
