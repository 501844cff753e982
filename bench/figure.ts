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
