const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

export const unitNames = Object.keys(units).reverse().join(', ');

/** Parses `500ms`, `90s`, `1h30m`, `5d` to milliseconds. A bare number means seconds. Larger units must come first. */
export function parseDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * units.s;
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  return Object.values(units).reduce((total, unit, index) => total + Number(parts[index + 1] ?? 0) * unit, 0);
}

/** Formats milliseconds for people: `850ms`, `1.6s`, `45s`, `1m 05s`, `2h 10m`, `3d 04h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  // From 9,950 ms on, the value with one decimal would be 10.0.
  if (ms < 9_950) return `${Number((ms / 1_000).toFixed(1))}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, 'h', minutes % 60, 'm');
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${String(small).padStart(2, '0')}${smallUnit}`;
}
