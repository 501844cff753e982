/** One line of the table: a measurement, its target, and whether it reaches the target. */
export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly mustReach: string;
  readonly reached: boolean;
  /** A measurement of something else, for comparison. */
  readonly beside?: string;
}

export function asTable(figures: readonly Figure[]): string {
  const lines = figures.map(
    ({ name, measured, mustReach, reached, beside = '' }) =>
      `| ${name} | ${measured} | ${mustReach} | ${reached ? 'yes' : '**no**'} | ${beside} |`,
  );
  return ['| figure | measured | must reach | reached | beside |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}

/** So long may a process take for so many requests: 8 at once, then 9.5 a second, and 1.5 s for its start and the responses. */
export function secondsFor(requests: number): number {
  return Math.max(0, requests - 8) / 9.5 + 1.5;
}
