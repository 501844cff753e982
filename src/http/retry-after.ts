import type { HttpHeaders } from './exchange.js';

/** `Retry-After` is capped at 366 days, the longest duration that an input accepts. */
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
  return parseHttpDate(headers['date']?.trim() ?? '');
}

/** Date.parse alone would read a bare number as a year or month, and HTTP's asctime format as local time. */
function parseHttpDate(text: string): number | undefined {
  const isAsctime = /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/.test(text);
  if (!isAsctime && !/GMT$|^\d{4}-/.test(text)) return undefined;
  const epochMs = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
