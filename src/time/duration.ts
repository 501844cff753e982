const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Parses `500ms`, `90s`, `1h30m`, `5d` to milliseconds. A bare number means seconds. Larger units must come first. */
export function parseDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * units.s;
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text);
  if (parts === null || text === '') return undefined;
  return Object.values(units).reduce((total, unit, index) => total + Number(parts[index + 1] ?? 0) * unit, 0);
}

/** Formats milliseconds for people: `850ms`, `1.6s`, `45s`, `1m 5s`, `2h 10m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10}s`;
  let rest = Math.round(ms / 1_000) * 1_000;
  const parts = Object.entries(units).flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count === 0 ? [] : `${count}${unit}`;
  });
  return parts.slice(0, 2).join(' ');
}
