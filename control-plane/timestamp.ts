/** Microseconds since the epoch fit a double until the year 2255, so they need no bigint. */
export type Micros = number;

export function formatTimestamp(micros: Micros, zone: 'Z' | '+00:00' = 'Z'): string {
  const milliseconds = Math.floor(micros / 1000);
  const rest = Math.floor(micros - milliseconds * 1000);
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}${zone}`;
}

export function httpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

const shape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{1,6})(?:Z|\+00:00)$/;

/** Undefined when the text is no timestamp with fractional seconds. */
export function parseTimestamp(text: string): Micros | undefined {
  const [, seconds, fraction] = shape.exec(text) ?? [];
  if (seconds === undefined || fraction === undefined) return undefined;
  const milliseconds = Date.parse(`${seconds}Z`);
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000 + Number(fraction.padEnd(6, '0'));
}
