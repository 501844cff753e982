/** Nobody waits longer. */
const longest = 366 * 86_400_000;

/** How long the service asks to be left alone: `Retry-After` in seconds, or a date as seen from the answer's own `Date`. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, date: number): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined || asked === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(asked)) return Math.min(Number(asked) * 1_000, longest);
  const until = parseDate(asked);
  if (Number.isNaN(until)) return undefined;
  const answered = parseDate(headers['date']?.trim() ?? '');
  return Math.min(Math.max(0, until - (Number.isNaN(answered) ? date : answered)), longest);
}

/** Date.parse alone takes a bare number for a year or a month, and the oldest form of HTTP's dates for local time. */
function parseDate(text: string): number {
  if (/^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/.test(text)) return Date.parse(`${text} GMT`);
  return /GMT$|^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
}
