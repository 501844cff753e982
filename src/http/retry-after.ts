/** Nobody waits longer. */
const longest = 366 * 86_400_000;

/** How long the service asks to be left alone: `Retry-After` in seconds, or a date as seen from the answer's own `Date`. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, date: number): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined || asked === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(asked)) return Math.min(Number(asked) * 1_000, longest);
  const until = parseDate(asked);
  if (Number.isNaN(until)) return undefined;
  const answered = parseDate(headers['date'] ?? '');
  return Math.min(Math.max(0, until - (Number.isNaN(answered) ? date : answered)), longest);
}

/** Date.parse alone takes a bare number for a year or a month. */
function parseDate(text: string): number {
  return /GMT$|^\d{4}-/.test(text.trim()) ? Date.parse(text) : Number.NaN;
}
