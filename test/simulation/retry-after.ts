import type { Sent } from './record.js';

/** Milliseconds that an answer asks for; what its own date says counts, as the clocks of two machines differ. */
export function retryAfterOf({ answer }: Sent): number | undefined {
  const asked = answer?.headers['retry-after'];
  if (asked === undefined) return undefined;
  if (/^\d+$/.test(asked)) return Number(asked) * 1_000;
  return Date.parse(asked) - Date.parse(answer?.headers['date'] ?? '');
}
