/** How long the service asks to be left alone: `Retry-After` in seconds, or a date as seen from the answer's own `Date`. */
export function retryAfter(headers: Readonly<Record<string, string | undefined>>, date: number): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined || asked === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(asked)) return Number(asked) * 1_000;
  const until = Date.parse(asked);
  if (Number.isNaN(until)) return undefined;
  const answered = Date.parse(headers['date'] ?? '');
  return Math.max(0, until - (Number.isNaN(answered) ? date : answered));
}
