import { afterAll } from 'vitest';
import type { Aftermath } from './key-stage.js';

interface Row {
  runs: number;
  told: number;
  untold: number;
  shown: number;
}

/** `fault x exchange -> keys left, secrets shown`, printed as Markdown where KEYS_TABLE is set. */
export class LeakTable {
  readonly #rows = new Map<string, Row>();

  constructor(private readonly title: string) {
    if (process.env['KEYS_TABLE']) afterAll(() => console.log(this.#print()));
  }

  add(fault: string, exchange: string, { alive, untold, shown }: Aftermath): void {
    const name = `${fault} | ${exchange}`;
    const row = this.#rows.get(name) ?? { runs: 0, told: 0, untold: 0, shown: 0 };
    this.#rows.set(name, row);
    row.runs++;
    row.told += alive.length - untold.length;
    row.untold += untold.length;
    row.shown += shown.length;
  }

  #print(): string {
    const line = (name: string, { runs, told, untold, shown }: Row) =>
      `| ${name} | ${runs} | ${told} | ${untold} | ${shown} |`;
    const all = { runs: 0, told: 0, untold: 0, shown: 0 };
    for (const row of this.#rows.values()) {
      for (const name of ['runs', 'told', 'untold', 'shown'] as const) all[name] += row[name];
    }
    const lines = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, row]) => line(name, row));
    return [
      this.title,
      '',
      '| fault | exchange | runs | keys left and told of | keys left untold | secrets shown |',
      '|---|---|---|---|---|---|',
      ...lines,
      line('**all** | ', all),
    ].join('\n');
  }
}
