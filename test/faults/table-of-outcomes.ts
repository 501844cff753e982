import { placeName } from './cell.js';
import type { Outcome } from './outcome.js';

interface Row {
  cells: number;
  runs: number;
  told: number;
  untold: number;
  secrets: number;
  late: number;
  failed: number;
}

const columns = ['cells', 'runs', 'told', 'untold', 'secrets', 'late', 'failed'] as const;

/** `situation x exchange -> runs, keys left, secrets shown, ends too late`, in Markdown. */
export function tableOfOutcomes(outcomes: readonly Outcome[]): string {
  const rows = new Map<string, Row>();
  const all = emptyRow();
  for (const outcome of outcomes) {
    const place = outcome.cell === undefined ? 'clean' : placeName(outcome.cell.place);
    const name = `${outcome.subject.name} | ${place}`;
    const row = rows.get(name) ?? emptyRow();
    rows.set(name, row);
    for (const sum of [row, all]) add(sum, outcome);
  }
  const line = (name: string, row: Row) => `| ${name} | ${columns.map((column) => row[column]).join(' | ')} |`;
  return [
    '| situation | exchange | cells | runs | keys left and told of | keys left untold | secrets | late | failed |',
    `|---|---|${columns.map(() => '---|').join('')}`,
    ...[...rows].sort(([a], [b]) => a.localeCompare(b)).map(([name, row]) => line(name, row)),
    line('**all** | ', all),
  ].join('\n');
}

function emptyRow(): Row {
  return { cells: 0, runs: 0, told: 0, untold: 0, secrets: 0, late: 0, failed: 0 };
}

function add(row: Row, { runs, told, untold, secrets, late, violations }: Outcome): void {
  row.cells++;
  row.runs += runs;
  row.told += told;
  row.untold += untold;
  row.secrets += secrets;
  row.late += late > 0 ? 1 : 0;
  row.failed += violations.length > 0 ? 1 : 0;
}
