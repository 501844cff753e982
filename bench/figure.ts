/** One line of the table: what was measured, what it must reach, and whether it does. */
export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly mustReach: string;
  readonly reached: boolean;
  /** What the figure is to be seen beside. */
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
