/** Nobody waits longer. */
const longest = 366 * 86_400_000;

/** How long the service asks to be left alone: `Retry-After` in seconds, or a date as seen from the answer's own `Date`. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, date: number): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined || asked === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(asked)) return Math.min(Number(asked) * 1_000, longest);
  const until = parseHttpDate(asked);
  if (until === undefined) return undefined;
  return Math.min(Math.max(0, until - (serviceEpochMs(headers) ?? date)), longest);
}

/** When the service sent the response, by its own clock; in milliseconds since 1970, cut to the second. */
export function serviceEpochMs(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  return parseHttpDate(headers['date']?.trim() ?? '');
}

/** Date.parse alone takes a bare number for a year or a month, and the oldest form of HTTP's dates for local time. */
function parseHttpDate(text: string): number | undefined {
  const isAsctime = /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/.test(text);
  if (!isAsctime && !/GMT$|^\d{4}-/.test(text)) return undefined;
  const epochMs = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
